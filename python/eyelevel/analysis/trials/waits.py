"""Waits of a load for its picture: of Speed Index, and of its largest visible part.

Speed Index is the mean time at which the parts of the picture appear. Each part waited for the
requests on its critical path (`eyelevel.analysis.critical_path`), so that Speed Index is the sum of
four: for connections, for first bytes, for bytes, and the rest, which is the browser's own time.

Analyse the traffic on the emulated downlink during one load: silences, and bytes in flight.

The path's timeline in a record is its source: packets in intervals of 1 ms, or longer ones so that
512 intervals are enough.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from eyelevel.analysis.critical_path import PathWaits, path_waits
from eyelevel.analysis.metrics.visual import Progress
from eyelevel.base.json_types import JsonMapping

KINDS = ("connections", "first_byte", "bytes", "rest")
"""The names of the waits, in the order of `PathWaits`."""


def wait_columns(of: str) -> tuple[str, ...]:
    """Return the names of the columns with the four parts of a time."""
    return tuple(f"{of}_{kind}_ms" for kind in KINDS)


SPEED_WAITS = wait_columns("speed_index")
PAINT_MS, PAINT_HANDSHAKES = "first_paint_ms", "first_paint_handshakes"
PAINT_WAITS = wait_columns("first_paint")
PART_MS, PART_SHARE, PART_OF = "largest_part_ms", "largest_part_share", "largest_part_of"
PART_WAITS = wait_columns("largest_part")
# Of the loads that ended `ok`; null where nothing was painted.
WAITS_COLUMNS: dict[str, pl.DataType] = {
    **dict.fromkeys((*SPEED_WAITS, PAINT_MS, PAINT_HANDSHAKES, *PAINT_WAITS), pl.Float64()),
    **dict.fromkeys((PART_MS, PART_SHARE, *PART_WAITS), pl.Float64()),
    PART_OF: pl.String(),  # one line per object that may have caused it; empty: first paint
}

_SHOWN = ("Image", "Media", "Font")
"""Resource types that appear on the screen, those that usually fill most of it first."""
ARRIVED_MS = (5.0, 150.0)
"""The least and the longest time from an object's last byte to its change of the picture: decoding,
raster and a frame, and the same on a busy machine."""


def waits_of(
    record: JsonMapping, progress: Progress, speed_index_ms: float | None
) -> tuple[object, ...]:
    """Return the values of WAITS_COLUMNS.

    A part of the picture is a step of its visual progress. It is attributed to the image, or else
    the font, that was the last to arrive before it. If there is none, and up to the first paint, it
    is attributed to the requests that rendering waited for. That is the latest that timing allows,
    not something that was observed. The rest of Speed Index is the browser's own time.
    """
    steps = [(to_ms, share - before) for (_, before), (to_ms, share) in pairwise(progress)]
    painted_ms = (record["navigation"] or {}).get(PAINT_MS)
    if not steps or speed_index_ms is None or painted_ms is None:
        return (None,) * len(WAITS_COLUMNS)
    objects = record["objects"]
    # A frame appears some milliseconds before or after the paint that the browser reports.
    painted_ms = max(painted_ms, next((at_ms for at_ms, share in steps if share > 0), 0.0))
    waits: dict[str | None, PathWaits] = {}
    sums = [0.0, 0.0, 0.0]
    for at_ms, share in steps:
        found = _waits_until(objects, at_ms, painted_ms, waits)
        for place, each_ms in enumerate(
            (found.connections_ms, found.first_byte_ms, found.bytes_ms)
        ):
            sums[place] += share * each_ms
    part_ms, part_share = max(steps, key=lambda step: step[1])
    part = _waits_until(objects, part_ms, painted_ms, waits)
    waited_ms = part.connections_ms + part.first_byte_ms + part.bytes_ms
    paint = path_waits(objects, record["navigation"][PAINT_MS])
    return (
        *sums,
        speed_index_ms - sum(sums),
        record["navigation"][PAINT_MS],
        *astuple(paint),
        part_ms,
        part_share,
        part.connections_ms,
        part.first_byte_ms,
        part.bytes_ms,
        part_ms - waited_ms,
        "\n".join(find_sources(objects, part_ms, painted_ms)),
    )


def find_sources(objects: Sequence[JsonMapping], at_ms: float, painted_ms: float) -> list[str]:
    """Return the URLs that may have changed the picture at `at_ms`, the likeliest first.

    Empty for a change with the first paint, or long after the last arrival.
    """
    if at_ms <= painted_ms:
        return []
    least_ms, most_ms = ARRIVED_MS
    arrived = [
        item
        for item in objects
        if item["resource_type"] in _SHOWN
        and not item["failed"]
        and item["finished_ms"] is not None
        and at_ms - most_ms <= item["finished_ms"] <= at_ms - least_ms
    ]
    arrived.sort(key=lambda each: (each["resource_type"] == "Font", -each["finished_ms"]))
    return list(dict.fromkeys(item["url"] for item in arrived))


def _waits_until(
    objects: Sequence[JsonMapping],
    at_ms: float,
    painted_ms: float,
    known: dict[str | None, PathWaits],
) -> PathWaits:
    """Return the waits for the object that changed the picture at `at_ms`.

    They are computed once per object: only the rest, which is not used, depends on the time.
    """
    url = next(iter(find_sources(objects, at_ms, painted_ms)), None)
    if url not in known:
        until_ms = max(at_ms, painted_ms) if url is None else at_ms
        known[url] = path_waits(objects, until_ms, url)
    return known[url]


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
