"""Our own log (spec/path-log.md): one line of JSON, then records of 32 bytes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eyelevel.errors import PathLogError
from eyelevel.lab_tables import LINKS
from eyelevel.pathlog.direction import LENGTH_MS_MAX, Capacity, DirectionLog
from eyelevel.pathlog.mahimahi import read_mahimahi
from eyelevel.pathlog.own_head import read_head

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
KINDS = 12  # with those that were refused
STAMPED = 1
"""Of a read: its packets' arrival is the kernel's stamp."""
ROUNDS_MAX = 4_000_000
"""Of a repeated schedule: over an hour of the shortest, 1 ms."""

Records = NDArray[np.void]


def read_own(content: bytes, name: str) -> DirectionLog:
    """A direction; of several links in it the one at which packets stood longest.

    A record that was being written when the lab was killed is left out.
    """
    line, _, body = content.partition(b"\n")
    head = read_head(line, name)
    whole = body[: len(body) // RECORD.itemsize * RECORD.itemsize]
    records = _checked(np.frombuffer(whole, dtype=RECORD), head, name)
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


def _checked(records: Records, head: Mapping[str, Any], name: str) -> Records:
    """All records, each of a known kind, stage and reason, and within the log's time."""
    kinds, start_ns = records["kind"], int(head["start_ns"])
    ends_ns = start_ns + LENGTH_MS_MAX * 1_000_000
    unknown = (kinds >= KINDS) | (records["stage"] >= max(len(head["stages"]), 1))
    unknown |= (kinds == DROP) & (records["reason"] >= len(head["drop_reasons"]))
    astray = (records["at_ns"] < start_ns) | (records["at_ns"] > ends_ns)
    for wrong, what in ((unknown, "of an unknown kind, stage or reason"), (astray, "out of time")):
        if wrong.any():
            number = int(wrong.argmax()) + 1
            raise PathLogError(f"{name}: record {number} is {what}; the log is damaged")
    return records


def _bottleneck(stages: list[Mapping[str, Any]], served: Records) -> int | None:
    links = [place for place, stage in enumerate(stages) if stage["stage"] in LINKS]
    stood = np.bincount(served["stage"], weights=served["value"], minlength=len(stages))
    return max(links, key=lambda place: stood[place], default=None)


def _capacity(
    stages: list[Mapping[str, Any]], place: int, records: Records, start_ns: int, name: str
) -> Capacity:
    stage = stages[place]
    if stage["stage"] == "rate":
        return Capacity(np.zeros(1), bit_s=np.array([float(stage["rate_bit_s"])]))
    if stage["stage"] == "schedule":
        return _schedule(stage, _end_s(records, start_ns), name)
    # Every opportunity was either used, by what left with it, or logged as unused.
    there = _of_stage(records, SERVED, place), _of_stage(records, UNUSED, place)
    both = np.concatenate(there)
    return Capacity(_seconds(both, start_ns), bytes=both["wire_bytes"].astype(np.int64))


def _schedule(stage: Mapping[str, Any], end_s: float, name: str) -> Capacity:
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
    return records[(records["kind"] == kind) & (records["stage"] == place)]


def _seconds(records: Records, start_ns: int) -> NDArray[np.float64]:
    # Unsigned times may not go below the start.
    return (records["at_ns"].astype(np.int64) - start_ns) / 1e9


def _end_s(records: Records, start_ns: int) -> float:
    return float((int(records["at_ns"].max()) - start_ns) / 1e9) if len(records) else 0.0


def read_log(content: bytes, name: str) -> DirectionLog:
    """One direction's log; `name` is the file's, for messages. Raises PathLogError."""
    if not content:
        raise PathLogError(f"{name}: the file is empty; the path that wrote it had no time to")
    if content.startswith(b"{"):
        return read_own(content, name)
    return read_mahimahi(content, name)
