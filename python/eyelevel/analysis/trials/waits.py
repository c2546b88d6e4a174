"""Waits of a load for its picture: of Speed Index, and of its largest visible part.

Speed Index is the mean time at which the parts of the picture appear. Each part waited for the
requests on its critical path (`eyelevel.analysis.critical_path`), so that Speed Index is the sum of
four: for connections, for first bytes, for bytes, and the rest, which is the browser's own time.
"""

from collections.abc import Sequence
from dataclasses import astuple
from itertools import pairwise

import polars as pl

from eyelevel.analysis.critical_path import PathWaits, path_waits
from eyelevel.analysis.metrics.visual.visual_progress import Progress
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
    told = part.connections_ms + part.first_byte_ms + part.bytes_ms
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
        part_ms - told,
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
