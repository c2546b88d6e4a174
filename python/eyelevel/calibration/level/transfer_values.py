"""Compute a stack's values from one transfer of our own client: its report and log; pure."""

from typing import Any

import numpy as np

from eyelevel.analysis.pathlog.packets import Arrivals
from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Value

DATA_PACKET_BYTES_MIN = 81
"""The least bytes of a packet with data: a segment that only acknowledges has at most 80, such a
QUIC packet about 70."""
FLIGHT_GAP_RTT_SHARE = 0.4
"""Flights are separated by gaps of this share of a round trip; paced packets are closer."""
FLIGHT_PACKETS_MIN = 8
"""The fewest packets of a first flight of bulk data; a handshake has fewer at once."""


LIMITED = {
    "window_limited_ms": "receive_window_limited_ms",
    "buffer_limited_ms": "send_buffer_limited_ms",
}
"""The names in `in_force` of the times in which a server was limited."""


def bulk_values(
    told: JsonMapping, in_force: JsonMapping, down: Arrivals, rtt_ms: float
) -> dict[str, Value]:
    """Return the values by name, without those that this transfer lacks."""
    values: dict[str, Value] = {
        "connect_ms": float(told["connect_ms"]),
        "tickets": float(told["tickets"]),
    }
    if told["certificate_bytes"] is not None:  # cleartext has none
        values["certificate_bytes"] = float(told["certificate_bytes"])
    if (share := down.capable_share) is not None:
        values["ecn_share_down"] = share
    for value, name in LIMITED.items():
        if in_force[name] is not None:
            values[value] = float(in_force[name])
    flight = first_flight(down, rtt_ms)
    if flight is not None:
        values["first_flight_packets"] = float(len(flight))
        values["first_flight_ms"] = float(down.at_ns[flight[-1]] - down.at_ns[flight[0]]) / 1e6
    return values


def late_values(told: JsonMapping, request: JsonMapping, down: Arrivals) -> dict[str, Value]:
    """Return the values of an urgent request during a transfer: `late_bytes` and `late_ms`.

    The bytes are those that left the server between the request's arrival and the packet with its
    first byte, the time is from the request to that byte. `request`: the server's event.
    """
    came_ns = request["at_ns"] - request["server_us"] * 1000
    read = np.flatnonzero((down.released_ns > 0) & (down.released_ns <= told["first_byte_ns"]))
    if not len(read):
        return {}
    between = np.arange(len(down.at_ns)) < read[-1]
    between &= down.at_ns >= came_ns
    return {
        "late_bytes": float(down.wire_bytes[between].sum()),
        "late_ms": (told["first_byte_ns"] - told["asked_ns"]) / 1e6,
    }


def first_flight(down: Arrivals, rtt_ms: float) -> Any:
    """Return the positions of the data packets of the first flight after the handshake, or None.

    A flight ends at a pause of a share of the round trip, or after one round trip: later packets
    are responses to acknowledgements.
    """
    data = np.flatnonzero(down.wire_bytes >= DATA_PACKET_BYTES_MIN)
    at_ms = down.at_ns[data] / 1e6
    gaps = np.flatnonzero(np.diff(at_ms) > FLIGHT_GAP_RTT_SHARE * rtt_ms) + 1
    for flight in np.split(data, gaps):
        if len(flight) >= FLIGHT_PACKETS_MIN:
            began = down.at_ns[flight[0]]
            first = flight[(down.at_ns[flight] - began) / 1e6 < 0.95 * rtt_ms]
            return first
    return None


def packet_to_lose(down: Arrivals, kind: str, rtt_ms: float) -> int | None:
    """Return the position of the response's last packet, or of one in its middle, by `kind`.

    None if no full packet came. Packets that come later than a share of the round trip after the
    last full one are not part of the response.
    """
    data = np.flatnonzero(down.wire_bytes >= DATA_PACKET_BYTES_MIN)
    full = data[down.wire_bytes[data] >= FULL_PACKET_BYTES_MIN]
    if not len(full):
        return None
    if kind == "middle":
        return int(full[len(full) // 2])
    late_ms = (down.at_ns[data] - down.at_ns[full[-1]]) / 1e6
    return int(data[late_ms < FLIGHT_GAP_RTT_SHARE * rtt_ms][-1])


FULL_PACKET_BYTES_MIN = 1400
"""The least bytes of a full packet, which has 1500 over TCP and 1480 over QUIC."""


def is_intended_loss(down: Arrivals, kind: str, rtt_ms: float) -> bool:
    """Return whether exactly one packet was lost, and it is the intended one.

    That is the response's last packet (`tail`), or one with others after it (`middle`).
    """
    if len(down.dropped) != 1:
        return False
    (lost,) = down.dropped.tolist()
    data = np.flatnonzero(down.wire_bytes >= DATA_PACKET_BYTES_MIN)
    behind_ms = (down.at_ns[data[data > lost]] - down.at_ns[lost]) / 1e6
    followed = bool((behind_ms < FLIGHT_GAP_RTT_SHARE * rtt_ms).any())
    return lost in data and followed == (kind == "middle")


def repair_values(whole: JsonMapping, broken: JsonMapping) -> dict[str, Value]:
    """Return the time that a loss cost."""
    return {"repair_ms": float(broken["duration_ms"]) - float(whole["duration_ms"])}
