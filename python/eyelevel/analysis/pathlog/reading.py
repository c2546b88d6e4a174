"""Read a path's log: ours (spec/path-log.md) here, Mahimahi's by `mahimahi`.

Ours is one line of JSON, which describes the rest, then records of 32 bytes. All of it is checked
before it is used: a log may be damaged, or not be one.
"""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog.direction import LENGTH_MS_MAX, Capacity, DirectionLog
from eyelevel.analysis.pathlog.mahimahi import read_mahimahi
from eyelevel.base.errors import OutsideError, PathLogError
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.base.lab_tables import LINKS

FORMAT, VERSION, RECORD_BYTES = "eyelevel-path-log", 1, 32

RATE_BIT_S_MAX = 1e15
PERIOD_MS_MIN = 1.0
START_NS_MAX = 1 << 62

RECORD = np.dtype(
    [
        ("at_ns", "<u8"),
        ("packet", "<u8"),
        ("value", "<u8"),
        ("wire_bytes", "<u4"),
        ("kind", "u1"),
        ("reason", "u1"),
        ("stage", "<u2"),
    ]
)
ARRIVAL, SERVED, RELEASE, DROP, MARK, _DUPLICATE, _CORRUPT, UNUSED, _ADDRESS, LOST = range(10)
READ = 11
KINDS = 12  # counting those that were refused
STAMPED = 1
"""The reason of a read whose packets have the kernel's stamp as arrival."""
ROUNDS_MAX = 4_000_000
"""The most repetitions of a schedule: over an hour of the shortest, 1 ms."""

Records = NDArray[np.void]


def read_log(content: bytes, name: str) -> DirectionLog:
    """Read one direction's log; `name` is the file's, for messages. Raises PathLogError."""
    if not content:
        raise PathLogError(
            f"{name}: the file is empty; "
            "the path that should have written it ended too early; run it again to its end"
        )
    if content.startswith(b"{"):
        return read_own(content, name)
    return read_mahimahi(content, name)


def read_own(content: bytes, name: str) -> DirectionLog:
    """Return a direction of our own log, its capacity that of the link with the longest waits.

    A record that was being written when the lab was killed is left out.
    """
    head, records = read_records(content, name)
    _check(records, head, name)
    kinds = records["kind"]
    start_ns = int(head["start_ns"])
    arrivals, drops = records[kinds == ARRIVAL], records[kinds == DROP]
    releases, reads = records[kinds == RELEASE], records[kinds == READ]
    stamped = reads["reason"] == STAMPED
    link = _bottleneck(head["stages"], records[kinds == SERVED])
    departures = releases if link is None else _of_stage(records, SERVED, link)
    delay_ns = np.zeros(len(releases)) if link is None else departures["value"]
    reasons = head["drop_reasons"]
    counts = np.bincount(drops["reason"], minlength=len(reasons))
    return DirectionLog(
        name=str(head["direction"]),
        arrived_s=_seconds(arrivals, start_ns),
        arrived_bytes=arrivals["wire_bytes"].astype(np.int64),
        departed_s=_seconds(departures, start_ns),
        departed_bytes=departures["wire_bytes"].astype(np.int64),
        delay_ms=np.asarray(delay_ns, dtype=np.float64) / 1e6,
        dropped_s=_seconds(drops, start_ns),
        drops={reason: int(n) for reason, n in zip(reasons, counts, strict=False) if n},
        capacity=None if link is None else _capacity(head["stages"], link, records, start_ns, name),
        marked=int((kinds == MARK).sum()),
        lost_records=int(records[kinds == LOST]["value"].sum()),
        late_us=releases["value"].astype(np.float64) / 1e3,
        waited_us=reads[stamped]["value"].astype(np.float64) / 1e3,
        unstamped_reads=int((~stamped).sum()),
    )


def read_records(content: bytes, name: str) -> tuple[JsonMapping, Records]:
    """Return the head and all complete records of our own log, which are not checked yet.

    Raises PathLogError for an invalid head.
    """
    line, _, body = content.partition(b"\n")
    head = read_head(line, name)
    whole = body[: len(body) // RECORD.itemsize * RECORD.itemsize]
    records: Records = np.frombuffer(whole, dtype=RECORD)
    return head, records


def read_head(line: bytes, name: str) -> JsonMapping:
    """Return the log's first line. Raises PathLogError if its version or content is invalid."""
    try:
        head = parse_object(line, Source(name, DOCUMENT))
        written = (head["format"], head["version"], head["record_bytes"])
    except (OutsideError, KeyError):
        raise PathLogError(
            f"{name}:1: the head is not JSON with a format, a version and a record size; this "
            "is not a path's log, or it is damaged; give one"
        ) from None
    if written != (FORMAT, VERSION, RECORD_BYTES):
        shown = " ".join(str(part)[:40] for part in written[:2])
        raise PathLogError(
            f"{name}:1: the log is of {' '.join(shown.split())}, not of {FORMAT} {VERSION}; read "
            "it with the version that wrote it"
        )
    if part := _unsound_part(head):
        raise PathLogError(
            f"{name}:1: the head has no valid {part}; it is damaged, so log it again"
        )
    return head


def _check(records: Records, head: JsonMapping, name: str) -> None:
    """Raise PathLogError for a record of an unknown kind, stage or reason, or time."""
    kinds, start_ns = records["kind"], int(head["start_ns"])
    ends_ns = start_ns + LENGTH_MS_MAX * 1_000_000
    unknown = (kinds >= KINDS) | (records["stage"] >= max(len(head["stages"]), 1))
    unknown |= (kinds == DROP) & (records["reason"] >= len(head["drop_reasons"]))
    astray = (records["at_ns"] < start_ns) | (records["at_ns"] > ends_ns)
    for damaged, what in (
        (unknown, "of an unknown kind, stage or reason"),
        (astray, "out of time"),
    ):
        if damaged.any():
            number = int(damaged.argmax()) + 1
            raise PathLogError(f"{name}: record {number} is {what}; it is damaged, so log it again")


def _bottleneck(stages: list[JsonMapping], served: Records) -> int | None:
    links = [place for place, stage in enumerate(stages) if stage["stage"] in LINKS]
    waited_ns = np.bincount(served["stage"], weights=served["value"], minlength=len(stages))
    return max(links, key=lambda place: float(waited_ns[place]), default=None)


def _capacity(
    stages: list[JsonMapping], place: int, records: Records, start_ns: int, name: str
) -> Capacity:
    stage = stages[place]
    if stage["stage"] == "rate":
        return Capacity(np.zeros(1), bit_s=np.array([float(stage["rate_bit_s"])]))
    if stage["stage"] == "schedule":
        return _schedule(stage, _end_s(records, start_ns), name)
    # Every opportunity was either used by a departure or logged as unused.
    kinds = (SERVED, UNUSED)
    opportunities = np.concatenate([_of_stage(records, kind, place) for kind in kinds])
    at_s = _seconds(opportunities, start_ns)
    return Capacity(at_s, bytes=opportunities["wire_bytes"].astype(np.int64))


def _schedule(stage: JsonMapping, end_s: float, name: str) -> Capacity:
    at_s = np.array([step["at_ms"] / 1e3 for step in stage["steps"]])
    bit_s = np.array([float(step["rate_bit_s"]) for step in stage["steps"]])
    if (period_ms := stage.get("period_ms")) is not None:
        count = int(end_s * 1e3 // period_ms) + 1
        if count > ROUNDS_MAX:
            raise PathLogError(
                f"{name}: the schedule repeats {count} times in it, over {ROUNDS_MAX}; log a "
                "shorter time"
            )
        rounds = np.arange(count) * period_ms / 1e3
        at_s = (rounds[:, None] + at_s[None, :]).ravel()
        bit_s = np.tile(bit_s, len(rounds))
    return Capacity(at_s, bit_s=bit_s)


def _of_stage(records: Records, kind: int, place: int) -> Records:
    chosen: Records = records[(records["kind"] == kind) & (records["stage"] == place)]
    return chosen


def _seconds(records: Records, start_ns: int) -> NDArray[np.float64]:
    # Unsigned times would wrap below the start.
    since_ns: NDArray[np.int64] = records["at_ns"].astype(np.int64) - start_ns
    return since_ns / 1e9


def _end_s(records: Records, start_ns: int) -> float:
    return float((int(records["at_ns"].max()) - start_ns) / 1e9) if len(records) else 0.0


def _unsound_part(head: JsonMapping) -> str | None:
    """Return the first invalid part of the head; None if it is valid."""
    stages, reasons = head.get("stages"), head.get("drop_reasons")
    if head.get("direction") not in ("down", "up"):
        return "`direction`"
    start_ns = head.get("start_ns")
    if not isinstance(start_ns, int) or not _is_number(start_ns, 0, START_NS_MAX):
        return "`start_ns`"
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return "`drop_reasons`"
    if not isinstance(stages, list) or not all(isinstance(stage, dict) for stage in stages):
        return "`stages`"
    unsound = (place for place, stage in enumerate(stages, start=1) if not _is_stage(stage))
    place = next(unsound, None)
    return None if place is None else f"stage {place}"


def _is_stage(stage: JsonMapping) -> bool:
    kind = stage.get("stage")
    if kind == "rate":
        return _is_number(stage.get("rate_bit_s"), 1, RATE_BIT_S_MAX)
    if kind == "schedule":
        return _is_schedule(stage)
    return isinstance(kind, str)


def _is_schedule(stage: JsonMapping) -> bool:
    steps, period_ms = stage.get("steps"), stage.get("period_ms")
    if not isinstance(steps, list) or not steps:
        return False
    if not all(isinstance(step, dict) for step in steps):
        return False
    starts = [step.get("at_ms") for step in steps]
    rates = [step.get("rate_bit_s") for step in steps]
    return (
        all(_is_number(start, 0, math.inf) for start in starts)
        and all(_is_number(rate, 0, RATE_BIT_S_MAX) for rate in rates)
        and all(early < late for early, late in pairwise(starts))
        and (period_ms is None or _is_number(period_ms, PERIOD_MS_MIN, math.inf))
    )


def _is_number(value: object, least: float, most: float) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return bool(least <= value <= most) and value < math.inf
