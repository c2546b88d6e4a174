"""Why a trial's connection cannot be shown."""

from eyelevel.errors import ExpectedError


class ConnectionLogError(ExpectedError):
    """A log that cannot be read, or a connection that is not there."""
