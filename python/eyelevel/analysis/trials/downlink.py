"""Analyse the traffic on the emulated downlink during one load: silences, and bytes in flight.

The path's timeline in a record is its source: packets in intervals of 1 ms, or longer ones so that
512 intervals are enough.
"""

from dataclasses import dataclass

import numpy as np

from eyelevel.base.json_types import JsonMapping

MEASURES = {
    "receive_gap_ms_max": "The longest time between two packets that reached the client, from "
    "the first packet to the load event. It is counted in whole "
    "intervals without any packet, so it is too short by two intervals "
    "at most.",
    "downlink_empty_share": "Share of the time from navigation start to the load event in "
    "which no packet was on its way to the client: neither queued, nor "
    "being sent, nor in flight. The page is then waiting for a request "
    "to travel, for a server, or for itself.",
    "downlink_used_share": "Bytes that reached the client before the load event, IP headers "
    "included, divided by what the downlink's rate (a trace's mean "
    "rate) carries in that time.",
    "on_the_way_bytes_max": "The most bytes that were on their way to the client at once: "
    "queued, being sent or in flight. A path holds its rate times its "
    "one-way delay, plus its queue.",
}
"""The measures of each load, by column; null if cross traffic shared its path. They are of the
downlink alone, where packets are observed: a sender's unacknowledged bytes include those on the way
back."""


@dataclass(frozen=True)
class Downlink:
    """The intervals of one load, from navigation start to its load event."""

    interval_ms: float
    start_ms: np.ndarray
    """The start of each interval, from navigation start; the first may precede it by one
    interval."""
    received_bytes: np.ndarray
    on_the_way_bytes: np.ndarray
    """The most bytes on the way at once, by interval."""
    load_ms: float

    def empty(self) -> list[tuple[float, float]]:
        """Return the times without bytes in flight: starts and ends in ms, ascending."""
        busy = (self.on_the_way_bytes > 0) | (self.received_bytes > 0)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], busy, [False]))))
        changes = self.start_ms[0] + edges * self.interval_ms
        bounds = np.concatenate(([0.0], changes, [self.load_ms])).clip(0.0, self.load_ms)
        return [(float(start), float(end)) for start, end in bounds.reshape(-1, 2) if end > start]


def downlink_of(record: JsonMapping) -> Downlink | None:
    """Return the downlink of a load, or None.

    There is none if the page did not load, if no packet came, or if cross traffic shared the path.
    """
    if record["path"] is None or record["navigation"] is None or record["cross_traffic"]:
        return None
    timeline = record["path"]["down"].get("timeline")  # absent: no packet came
    load_ms = record["navigation"]["page_load_time_ms"]
    navigation_ns = record["browser"]["navigation_start_ns"]
    if timeline is None or navigation_ns is None or not load_ms:
        return None
    interval_ms = float(timeline["interval_ms"])
    received = np.asarray(timeline["released_bytes"], np.int64)
    start_ms = (timeline["start_ns"] - navigation_ns) / 1e6 + interval_ms * np.arange(received.size)
    during = (start_ms + interval_ms > 0) & (start_ms < load_ms)
    if not during.any():
        return None
    return Downlink(
        interval_ms,
        start_ms[during],
        received[during],
        np.asarray(timeline["inside_bytes_max"], np.int64)[during],
        float(load_ms),
    )


def measures_of(record: JsonMapping) -> tuple[float | None, ...]:
    """Return the values of MEASURES; the used share is None if the downlink has no rate limit."""
    downlink = downlink_of(record)
    if downlink is None:
        return (None,) * len(MEASURES)
    rate_bit_s = record["trial"]["network_settings"]["rate_down_bit_s"]
    carried = rate_bit_s / 8e3 * downlink.load_ms
    arrivals = np.flatnonzero(downlink.received_bytes)
    gaps = np.diff(arrivals) - 1
    return (
        float(gaps.max()) * downlink.interval_ms if gaps.size else None,
        sum(end - start for start, end in downlink.empty()) / downlink.load_ms,
        float(downlink.received_bytes.sum()) / carried if carried else None,
        float(downlink.on_the_way_bytes.max()),
    )
