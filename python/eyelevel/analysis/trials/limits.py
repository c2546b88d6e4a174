"""Find the limits, besides the network, that kept the servers of one load from sending."""

from eyelevel.base.json_types import JsonMapping
from eyelevel.store.unused_connections import outlives_visits

LIMITS = {
    "receive_window_limited_ms": "Time in which only the browser's windows kept the servers "
    "from sending, over all connections. Over TCP this is the "
    "kernel's own count (`tcpi_rwnd_limited`); over QUIC, the "
    "time in which a stream could take no more and nothing else "
    "was waiting.",
    "send_buffer_limited_ms": "Time in which a transport had sent all it had, the network "
    "would have taken more, and there was more of a response. Over "
    "TCP this is the kernel's own count (`tcpi_sndbuf_limited`); "
    "over QUIC, the time from a stream's last byte to the next write.",
    "unsent_bytes_max": "The most bytes, heads of responses included, that the response "
    "scheduler had let through on any connection and that no packet had "
    "carried yet.",
}
"""The limits of connections over their lifetimes, as servers report them at their end. On a warm
visit they would include the earlier visit, which cannot be separated."""


def limits_of(record: JsonMapping) -> tuple[float | None, ...]:
    """Return the values of LIMITS, each None if no connection reports it.

    All are None on a warm visit, and external servers report none.
    """
    if outlives_visits(record):
        return (None,) * len(LIMITS)
    in_force = [connection["in_force"] for connection in record["connections"]]
    values = [
        [connection[name] for connection in in_force if connection[name] is not None]
        for name in LIMITS
    ]
    window, buffer, unsent = values
    return (
        float(sum(window)) if window else None,
        float(sum(buffer)) if buffer else None,
        float(max(unsent)) if unsent else None,
    )
