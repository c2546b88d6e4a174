"""What the logs of a trial say of its connections."""

from eyelevel.connections.errors import ConnectionLogError
from eyelevel.connections.timeline import (
    Fetched,
    Timeline,
    busiest_connection,
    timeline_of,
)
from eyelevel.connections.transport import Transport

__all__ = [
    "ConnectionLogError",
    "Fetched",
    "Timeline",
    "Transport",
    "busiest_connection",
    "timeline_of",
]
