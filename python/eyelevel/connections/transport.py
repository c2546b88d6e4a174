"""What a sender knew over time, the same for TCP and QUIC."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Transport:
    """Milliseconds of `CLOCK_MONOTONIC`; bytes; the round trip is the smoothed one.

    `losses` are moments at which packets were deemed lost (QUIC) or sent again (TCP), with how
    many.
    """

    at_ms: tuple[float, ...]
    window_bytes: tuple[int, ...]
    in_flight_bytes: tuple[int, ...]
    rtt_ms: tuple[float | None, ...]
    losses: tuple[tuple[float, int], ...]
