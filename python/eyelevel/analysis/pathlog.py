"""Logs of emulated paths, ours and Mahimahi's, in one form; pure, bytes and arrays only.

One direction of a path, from its log. Single packets of our own log (spec/path-log.md): arrivals at
a direction, and their fates. A direction in bins of time, for charts and means. A direction in
numbers: how full the link was, and how long packets waited for it.

Read a path's log: ours (spec/path-log.md) here, Mahimahi's by `mahimahi`.

Ours is one line of JSON, which describes the rest, then records of 32 bytes. All of it is checked
before it is used: a log may be damaged, or not be one.

Mahimahi's log of mm-link: comments at its head, then one event per line, in milliseconds.

`TIME + BYTES` a packet arrived, `TIME - BYTES DELAY` one left after DELAY, `TIME # BYTES` an
opportunity passed, used or not, `TIME d PACKETS BYTES` packets were dropped. Its sizes include four
bytes of the TUN device in every packet and opportunity: they are returned as they are.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import OutsideError, PathLogError
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.base.lab_tables import LIMITS, LINKS

Times = NDArray[np.float64]
Sizes = NDArray[np.int64]

_LENGTH_MS_MAX = int(LIMITS["opportunity_ms"].max)
"""The longest log: 30 days, as for a trace; a longer one is damaged."""


@dataclass(frozen=True)
class Capacity:
    """The link's capacity: `bytes` at each of `at_s`, or `bit_s` from each of them on.

    With `bit_s` the first piece begins at `at_s[0]` and the last one never ends.
    """

    at_s: Times
    bytes: Sizes | None = None
    bit_s: Times | None = None


@dataclass(frozen=True)
class DirectionLog:
    """The packets of one direction; all times in seconds since the log's first event.

    `delay_ms` of a departure is the time since the packet arrived at the link: waiting and
    transmission. `capacity` is None if the direction has no link. `late_us` is the lateness of each
    release against the model's time, `waited_us` the time that a packet waited in its device before
    it was read, by the kernel's stamp; `unstamped_reads` had no stamp. Mahimahi's logs have none of
    these.
    """

    name: str
    arrived_s: Times
    arrived_bytes: Sizes
    departed_s: Times
    departed_bytes: Sizes
    delay_ms: Times
    dropped_s: Times
    drops: dict[str, int]
    capacity: Capacity | None
    marked: int = 0
    lost_records: int = 0
    late_us: Times = field(default_factory=lambda: np.empty(0))
    waited_us: Times = field(default_factory=lambda: np.empty(0))
    unstamped_reads: int = 0

    @property
    def end_s(self) -> float:
        """The time of the last arrival, departure or drop."""
        columns = (self.arrived_s, self.departed_s, self.dropped_s)
        return float(max((at_s[-1] for at_s in columns if len(at_s)), default=0.0))


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
    return _read_mahimahi(content, name)


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
        version = " ".join(str(part)[:40] for part in written[:2])
        raise PathLogError(
            f"{name}:1: the log is of {' '.join(version.split())}, not of {FORMAT} {VERSION}; read "
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
    ends_ns = start_ns + _LENGTH_MS_MAX * 1_000_000
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


_BASE = "# base timestamp:"
_NUMBERS_AFTER = {"+": 1, "-": 2, "#": 1, "d": 2}
_DIGITS_MAX = 15
"""The most digits: longer numbers of milliseconds or bytes are damage, and their sums would
overflow."""


def _read_mahimahi(content: bytes, name: str) -> DirectionLog:
    """Return a direction. Raises PathLogError with file and line for any other line."""
    events: dict[str, list[tuple[int, ...]]] = {sign: [] for sign in _NUMBERS_AFTER}
    base_ms: int | None = None
    direction = name
    for number, line in enumerate(content.decode("ascii", errors="replace").splitlines(), start=1):
        if line.startswith(_BASE):
            base_ms = _parse_integer(line.removeprefix(_BASE).strip(), name, number)
        elif line.startswith("#"):
            direction = next((w for w in ("uplink", "downlink") if f"({w})" in line), direction)
        elif line:
            sign, values = _parse_event(line.split(), name, number)
            events[sign].append(values)
    if not any(events.values()):
        raise PathLogError(f"{name}: it holds no event of a packet; give a log of mm-link")
    first_ms = min(values[0][0] for values in events.values() if values)
    start_ms = first_ms if base_ms is None else base_ms
    last_ms = max(value[0] for values in events.values() for value in values)
    if last_ms - start_ms > _LENGTH_MS_MAX:
        raise PathLogError(
            f"{name}: an event {last_ms - start_ms} ms after the start, over 30 days; the log is "
            "damaged, or of several runs; give the log of one"
        )
    columns = {
        sign: np.array(values, dtype=np.int64).reshape(len(values), 1 + _NUMBERS_AFTER[sign])
        for sign, values in events.items()
    }
    seconds = {sign: (column[:, 0] - start_ms) / 1e3 for sign, column in columns.items()}
    drops = int(columns["d"][:, 1].sum())
    return DirectionLog(
        name=direction,
        arrived_s=seconds["+"],
        arrived_bytes=columns["+"][:, 1],
        departed_s=seconds["-"],
        departed_bytes=columns["-"][:, 1],
        delay_ms=columns["-"][:, 2].astype(np.float64),
        dropped_s=seconds["d"],
        drops={"queue": drops} if drops else {},
        capacity=Capacity(seconds["#"], bytes=columns["#"][:, 1]),
    )


def _parse_event(words: list[str], name: str, number: int) -> tuple[str, tuple[int, ...]]:
    sign = words[1] if len(words) > 1 else ""
    if len(words) != 2 + _NUMBERS_AFTER.get(sign, -9):
        raise PathLogError(
            f"{name}:{number}: `{' '.join(words)[:40]}` is not an event of mm-link (`TIME + "
            "BYTES`, `TIME - BYTES DELAY`, `TIME # BYTES`, `TIME d PACKETS BYTES`); give a "
            "path's log"
        )
    numbers = (words[0], *words[2:])
    return sign, tuple(_parse_integer(word, name, number) for word in numbers)


def _parse_integer(text: str, name: str, number: int) -> int:
    if not (text.isascii() and text.isdigit()):
        raise PathLogError(f"{name}:{number}: `{text[:40]}` is not a whole number; log it again")
    if len(text) > _DIGITS_MAX:
        raise PathLogError(
            f"{name}:{number}: `{text[:40]}` is too large; it is damaged, so log it again"
        )
    return int(text)


REFUSED = 10
"""The reason of packets that were released but refused by the receiver's device."""

NOT_ECT = 0


@dataclass(frozen=True)
class Arrivals:
    """The packets that arrived, one row each: `CLOCK_MONOTONIC`, IP bytes, ECN bits, flow hash.

    `released_ns` is the model's time, 0 if a packet was dropped or is still inside. `dropped` has
    the rows of packets that the path did not deliver.
    """

    at_ns: NDArray[np.int64]
    wire_bytes: NDArray[np.int64]
    ecn: NDArray[np.int64]
    flow: NDArray[np.int64]
    released_ns: NDArray[np.int64]
    dropped: NDArray[np.int64]

    @property
    def capable_share(self) -> float | None:
        """The share of packets that may be ECN-marked; None without packets."""
        return float((self.ecn != NOT_ECT).mean()) if len(self.ecn) else None

    def since(self, at_ns: int) -> "Arrivals":
        """Return the packets that arrived from then on."""
        kept = self.at_ns >= at_ns
        rows = np.cumsum(kept) - 1
        return Arrivals(
            at_ns=self.at_ns[kept],
            wire_bytes=self.wire_bytes[kept],
            ecn=self.ecn[kept],
            flow=self.flow[kept],
            released_ns=self.released_ns[kept],
            dropped=rows[self.dropped[kept[self.dropped]]],
        )


def read_arrivals(content: bytes, name: str) -> Arrivals:
    """Return the arrivals of our own log. Raises PathLogError for another kind."""
    _, records = read_records(content, name)
    arrivals = records[records["kind"] == ARRIVAL]
    releases = records[records["kind"] == RELEASE]
    released_ns = np.zeros(len(arrivals), dtype=np.int64)
    released_ns[releases["packet"].astype(np.int64)] = releases["at_ns"].astype(np.int64)
    return Arrivals(
        at_ns=arrivals["at_ns"].astype(np.int64),
        wire_bytes=arrivals["wire_bytes"].astype(np.int64),
        ecn=arrivals["reason"].astype(np.int64),
        flow=(arrivals["value"] & np.uint64(0xFFFFFFFF)).astype(np.int64),
        released_ns=released_ns,
        dropped=records[records["kind"] == DROP]["packet"].astype(np.int64),
    )


def fates_of(content: bytes, name: str) -> list[float | None]:
    """Return each packet's total delay in ms, in the order of arrival; None if it was dropped.

    This is the `fates` of another path. Of a duplicated packet the first copy counts. Packets that
    were still inside at the end, whose fate is unknown, are left out. Raises PathLogError for a log
    with gaps.
    """
    _, records = read_records(content, name)
    kinds = records["kind"]
    if (kinds == LOST).any():
        raise PathLogError(
            f"{name}: records are missing, so fates are missing, too; log to a faster disk"
        )
    arrivals = records[kinds == ARRIVAL]
    arrived_ns = dict(zip(arrivals["packet"].tolist(), arrivals["at_ns"].tolist(), strict=True))
    fates: dict[int, float | None] = {}
    for packet in records[kinds == DROP]["packet"].tolist():
        fates[packet] = None
    releases = records[(kinds == RELEASE) | (kinds == REFUSED)]
    for packet, at_ns in zip(releases["packet"].tolist(), releases["at_ns"].tolist(), strict=True):
        delay_ms = (at_ns - arrived_ns[packet]) / 1e6
        before = fates.get(packet)
        fates[packet] = delay_ms if before is None else min(before, delay_ms)
    # Packets still inside are the last ones, apart from those that others overtook.
    count = next((n for n in range(len(arrivals)) if n not in fates), len(arrivals))
    return [fates[packet] for packet in range(count)]


Values = NDArray[np.float64]

BINS_MAX = 200
"""The most bins, each wide enough that single packets do not show as noise."""

WIDTHS_S = tuple(digit * 10.0**power for power in range(-3, 5) for digit in (1, 2, 5))


@dataclass(frozen=True)
class Series:
    """The series of a direction by bins from `at_s` on: rates in Mbit/s, delays in ms, drops.

    Delays are not-a-number if nothing departed.
    """

    width_s: float
    at_s: Values
    capacity_mbit_s: Values | None
    arrived_mbit_s: Values
    departed_mbit_s: Values
    delay_ms_p50: Values
    delay_ms_max: Values
    dropped: NDArray[np.int64]


def series_of(log: DirectionLog) -> Series:
    """Return the log in bins of the first round width that gives at most BINS_MAX of them."""
    end_s = max(log.end_s, WIDTHS_S[0])
    width_s = next((w for w in WIDTHS_S if end_s / w <= BINS_MAX), WIDTHS_S[-1])
    edges: Values = (np.arange(int(end_s / width_s) + 2) * width_s).astype(np.float64)

    def rate(at_s: Values, size: NDArray[np.int64]) -> Values:
        bytes_by_bin: Values = np.histogram(at_s, edges, weights=size)[0]
        return bytes_by_bin * 8 / width_s / 1e6

    return Series(
        width_s=width_s,
        at_s=edges[:-1],
        capacity_mbit_s=(
            None
            if log.capacity is None
            else np.diff(capacity_bytes(log.capacity, edges)) * 8 / width_s / 1e6
        ),
        arrived_mbit_s=rate(log.arrived_s, log.arrived_bytes),
        departed_mbit_s=rate(log.departed_s, log.departed_bytes),
        delay_ms_p50=_aggregate_by_bin(log, edges, lambda values: float(np.median(values))),
        delay_ms_max=_aggregate_by_bin(log, edges, lambda values: float(values.max())),
        dropped=np.histogram(log.dropped_s, edges)[0],
    )


def capacity_bytes(capacity: Capacity, at_s: Values) -> Values:
    """Return the bytes that the link could have carried until each of `at_s`, which ascend."""
    if capacity.bytes is not None:
        order = np.argsort(capacity.at_s, kind="stable")
        gathered = np.concatenate(([0], np.cumsum(capacity.bytes[order])))
        return gathered[np.searchsorted(capacity.at_s[order], at_s, side="right")].astype(float)
    assert capacity.bit_s is not None
    starts, rates = capacity.at_s, capacity.bit_s / 8
    gathered = np.concatenate(([0.0], np.cumsum(np.diff(starts) * rates[:-1])))
    piece = np.maximum(np.searchsorted(starts, at_s, side="right") - 1, 0)
    return gathered[piece] + np.maximum(at_s - starts[piece], 0.0) * rates[piece]


def _aggregate_by_bin(log: DirectionLog, edges: Values, what: Callable[[Values], float]) -> Values:
    values = np.full(len(edges) - 1, np.nan)
    if not len(log.departed_s):
        return values
    order = np.argsort(log.departed_s, kind="stable")
    delays = log.delay_ms[order]
    bounds = np.searchsorted(log.departed_s[order], edges)
    for index, (low, high) in enumerate(pairwise(bounds)):
        if high > low:
            values[index] = what(delays[low:high])
    return values


@dataclass(frozen=True)
class DirectionSummary:
    """Numbers from the first arrival to the last departure; None if there was nothing to measure.

    `utilisation` is the carried share of what the link could have carried in that time.
    """

    direction: str
    duration_s: float
    packets: int
    departed_packets: int
    dropped: dict[str, int]
    marked_packets: int
    throughput_bit_s: float | None
    capacity_bit_s: float | None
    utilisation: float | None
    queue_delay_ms_mean: float | None
    queue_delay_ms_p50: float | None
    queue_delay_ms_p95: float | None
    queue_delay_ms_p99: float | None
    queue_delay_ms_max: float | None
    lateness_us_p50: float | None
    lateness_us_p99: float | None
    lateness_us_max: float | None
    waited_us_p50: float | None
    waited_us_p99: float | None
    waited_us_max: float | None
    unstamped_reads: int
    log_lost_records: int


def summarise(log: DirectionLog) -> DirectionSummary:
    """Summarise a direction.

    Throughput counts what left the link; delays include the packet's own transmission.
    """
    duration_s = throughput = capacity = utilisation = None
    if len(log.arrived_s) and len(log.departed_s):
        first, last = float(log.arrived_s.min()), float(log.departed_s.max())
        duration_s = last - first
    if duration_s:
        carried = float(log.departed_bytes.sum())
        throughput = carried * 8 / duration_s
        if log.capacity is not None:
            offered = float(np.diff(capacity_bytes(log.capacity, np.array([first, last])))[0])
            capacity = offered * 8 / duration_s
            utilisation = carried / offered if offered else None
    delays = _spread(log.delay_ms if log.capacity is not None else np.empty(0))
    late, waited = _spread(log.late_us), _spread(log.waited_us)
    return DirectionSummary(
        direction=log.name,
        duration_s=duration_s or 0.0,
        packets=len(log.arrived_s),
        departed_packets=len(log.departed_s),
        dropped=log.drops,
        marked_packets=log.marked,
        throughput_bit_s=throughput,
        capacity_bit_s=capacity,
        utilisation=utilisation,
        queue_delay_ms_mean=delays["mean"],
        queue_delay_ms_p50=delays["p50"],
        queue_delay_ms_p95=delays["p95"],
        queue_delay_ms_p99=delays["p99"],
        queue_delay_ms_max=delays["max"],
        lateness_us_p50=late["p50"],
        lateness_us_p99=late["p99"],
        lateness_us_max=late["max"],
        waited_us_p50=waited["p50"],
        waited_us_p99=waited["p99"],
        waited_us_max=waited["max"],
        unstamped_reads=log.unstamped_reads,
        log_lost_records=log.lost_records,
    )


def _spread(values: NDArray[np.float64]) -> dict[str, float | None]:
    if not len(values):
        return dict.fromkeys(("mean", "p50", "p95", "p99", "max"))
    p50, p95, p99 = (float(percentile) for percentile in np.percentile(values, (50, 95, 99)))
    mean, highest = float(values.mean()), float(values.max())
    return {"mean": mean, "p50": p50, "p95": p95, "p99": p99, "max": highest}
