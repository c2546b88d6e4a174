"""Convert other tools' recordings of links to files and stages that replay them.

The format is recognised by the first line, never by the file's name. Pure: callers read and write
the files.

Read tables of measurement campaigns, one row per measurement of a unit: FCC's and MONROE's.

Each is recognised by its heading, and becomes one recording per unit. Their columns:

- FCC, Measuring Broadband America, `curr_httpgetmt.csv` and `curr_httppostmt.csv`: the data
  dictionary of the campaign, whose tests are SamKnows'. `bytes_sec_interval` is the throughput in
  one interval, in bytes/s, `sequence` the interval's number (in the United States of 5 s each, from
  0 on), and a test is one `unit_id` at one `dtime` with one `target`.
- MONROE, `monroe_exp_ping.csv`: README and formatter of the ping experiment (MONROE-PROJECT on
  GitHub, Experiments), which keep what `fping -D` prints: `timestamp` in s, `rtt` in ms, and no
  `rtt` where no answer came.

Read CellReplay's light recordings: short packet trains, each with its delay.

A line is `AT DELAY OPPORTUNITY ...`, numbers separated by single spaces: when the train was sent,
the one-way delay of its first packet, and when each packet arrived relative to the first, in
milliseconds (Sentosa et al., NSDI 2025; `docs/reference/cell.md`). The same recordings are refused
as by the stage `cell`.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.csv_rows import csv_rows, utf8_of
from eyelevel.base.from_outside.files import text_of
from eyelevel.base.from_outside.limits import MB, TRACE
from eyelevel.base.from_outside.number_columns import (
    first_line,
    lines_without_ends,
    numbers,
    pieces_of_lines,
)
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.traces.delay_rate import (
    DELAY_MS_MAX,
    RATE_MBIT_S_MAX,
    DelayRate,
    is_delay_rate,
    names_time_or_rate,
    parse_delay_rate,
)
from eyelevel.plan.traces.mahimahi import (
    MS_MAX,
    OPPORTUNITY_BYTES,
    mean_rate_bit_s,
    micro_lines,
    parse_mahimahi,
    whole_lines,
)
from eyelevel.plan.traces.rates import RateSeries, opportunities_of, text_bytes

CELLREPLAY_BYTES = 1396
"""IP packet size of one of CellReplay's opportunities: its emulator gives each 1400 bytes,
including TUN's 4-byte header (`PACKET_SIZE` in its `src/frontend/cellular_queue.hh` at
23de1af).
"""
OPPORTUNITIES, SERIES = "a packet-delivery trace", "a series of delay or rate"
LIGHT, FCC_TABLE, MONROE_TABLE = "a light recording", "a table of the FCC", "a table of MONROE"
"""Formats that `form_of` returns, as messages name them."""
HEAD_BYTES = 1 << 16
"""Bytes of a file within which its first line must end for recognition; a packet train can be
long.
"""

TABLE_BYTES_MAX = 512 * MB
"""Maximum size of all units' traces: about 10 s of work. A line is an opportunity, so a table
of 10 MB that covers months at 14 Mbit/s would need more than 3 GB.
"""

# Timestamp in s or ms, ms since the start, latitude, longitude, bytes and ms since the line
# before (Riiser et al., MMSys 2013; van der Hooft et al., IEEE Communications Letters 20, 2016).
_HSDPA = re.compile(rb"\d{10}(?:\d{3})? \d+ -?\d+(?:\.\d+)? -?\d+(?:\.\d+)? \d+ \d+")

FORMS = (
    "packet-delivery traces (a whole millisecond a line), CellReplay's light recordings (`AT DELAY "
    "OPPORTUNITY ...`), seconds and Mbit/s, CSV with a heading such as `time_s,rtt_ms,down_mbps`, "
    "FCC's curr_httpgetmt.csv and MONROE's monroe_exp_ping.csv with their headings"
)


@dataclass(frozen=True)
class Imported:
    """One recording: files to write by name, and stages by direction (`down`, `up`).

    The direction is `either` if the recording does not specify one.
    """

    source: str
    form: str
    description: str
    files: dict[str, bytes] = field(repr=False)
    stages: dict[str, str]


def import_traces(inputs: Iterable[tuple[str, bytes]], folder: str) -> Iterator[Imported]:
    """Yield each recording of (name, content) inputs, with its files placed in `folder`.

    A light recording is combined with the next input. Raises `TraceError` with file, line and
    remedy.
    """
    light: tuple[str, bytes] | None = None
    for name, content in inputs:
        form = form_of(name, content)
        if light is not None:
            if form != OPPORTUNITIES:
                raise _alone(light[0])
            yield _cell(light, (name, content), folder)
            light = None
        elif form == LIGHT:
            light = (name, content)
        elif form == OPPORTUNITIES:
            yield _trace(name, content, folder)
        elif form == FCC_TABLE:
            yield from _fcc(name, content, folder)
        elif form == MONROE_TABLE:
            yield from _monroe(name, content, folder)
        else:
            source = Source(name, TRACE, TraceError)
            series = parse_delay_rate(content, source)
            found = _delay_rate(name, _stem(name), series, folder)
            apart = f"rows at most {np.diff(series.at_ms).max() / 1000:g} s apart"
            yield replace(found, description=f"{found.description}; {apart}")
    if light is not None:
        raise _alone(light[0])


def form_of(name: str, content: bytes) -> str:
    """Return the format that a file's first line shows; raises `TraceError` for an unknown one."""
    source = Source(name, TRACE, TraceError)
    begin = utf8_of(content, source)[:HEAD_BYTES]
    lines = begin.split(b"\n")
    rows = (line.strip() for line in lines)
    head = next((row for row in rows if row and not row.startswith(b"#")), b"")
    if head.isdigit():
        return OPPORTUNITIES
    if any(sign in head for sign in b",;\t|"):
        _, cells = next(csv_rows(begin.decode("utf-8", "replace"), source), (1, []))
        forms = {FCC_TABLE: _is_fcc, MONROE_TABLE: _is_monroe}
        if found := next((form for form, is_it in forms.items() if is_it(cells)), ""):
            return found
    if is_delay_rate(begin, source):
        return SERIES
    if _HSDPA.fullmatch(head):
        raise source.refusal(
            f"`{excerpt(head.decode())[:40]}` is a line of an HSDPA or LTE log of bytes received",
            "1",
            "write it as CSV: a heading `time_ms,kbps`, then column 2 less column 6, and 8 times "
            "column 5 divided by column 6",
        )
    if _LINE.fullmatch(head) or (len(lines) == 1 and _LINE.match(head)):
        return LIGHT
    if not head:
        fault = "no row in its first 64 kB" if content.strip() else "the file is empty"
        raise source.refusal(fault, "", f"known: {FORMS}")
    text_of(begin.partition(head)[0] + head, source)
    if names_time_or_rate(begin, source):
        return SERIES  # its reader says which column is missing
    quoted = f"`{excerpt(head.decode('utf-8', 'replace'))[:40]}`"
    raise source.refusal(f"{quoted} begins no form that is known", "1", f"known: {FORMS}")


def _trace(name: str, content: bytes, folder: str) -> Imported:
    opportunities_ms = _parse(name, content)
    file = f"{_stem(name)}.trace"
    return Imported(
        name,
        "packet-delivery trace",
        _describe(opportunities_ms),
        {file: content},
        {"either": f"trace {folder}/{file}"},
    )


def _cell(light: tuple[str, bytes], heavy: tuple[str, bytes], folder: str) -> Imported:
    trains = parse_light(light[1], Source(light[0], TRACE, TraceError))
    opportunities_ms = _parse(*heavy)
    files = {f"{_stem(light[0])}.light": light[1], f"{_stem(heavy[0])}.trace": heavy[1]}
    delays = np.percentile(trains.delay_ms, (5, 50, 95))
    mean_bit_s = mean_rate_bit_s(opportunities_ms) * CELLREPLAY_BYTES / OPPORTUNITY_BYTES
    text = (
        f"{len(trains.at_ms)} trains in {trains.at_ms[-1] / 1000:g} s, of "
        f"{trains.packets.min()} to {trains.packets.max()} packets, one way "
        f"{delays[0]:.3g}, {delays[1]:.3g}, {delays[2]:.3g} ms (p5, p50, p95); saturated "
        f"({heavy[0]}): {opportunities_ms[-1] / 1000:g} s, {mean_bit_s / 1e6:.3g} Mbit/s in the "
        f"mean of {CELLREPLAY_BYTES} bytes an opportunity"
    )
    names = " ".join(f"{folder}/{file}" for file in files)
    stage = f"cell {names} opportunity {CELLREPLAY_BYTES}B"
    return Imported(light[0], "CellReplay's two parts", text, files, {"either": stage})


def _fcc(name: str, content: bytes, folder: str) -> Iterator[Imported]:
    source = Source(name, TRACE, TraceError)
    units = list(parse_fcc(_table(content, source), source))
    total = sum(_bytes_of(each.series, f"{name}, unit {excerpt(each.unit)}") for each in units)
    if total > TABLE_BYTES_MAX:
        fault = f"its {len(units)} units come to {_more(total, TABLE_BYTES_MAX, ' of traces')}"
        raise source.refusal(fault, "", "keep the rows of fewer units, or of fewer days")
    for each in units:
        opportunities_ms = opportunities_of(each.series, f"{name}, unit {excerpt(each.unit)}")
        file = f"{_stem(name)}-{_stem(each.unit)}.trace"
        yield Imported(
            f"{name}, unit {excerpt(each.unit)}",
            "FCC's throughput tests",
            f"{_describe(opportunities_ms)}; {each.description}",
            {file: whole_lines(opportunities_ms)},
            {"either": f"trace {folder}/{file}"},
        )


def _monroe(name: str, content: bytes, folder: str) -> Iterator[Imported]:
    source = Source(name, TRACE, TraceError)
    for each in parse_monroe(_table(content, source), source):
        stem = f"{_stem(name)}-{_stem(each.unit)}"
        found = _delay_rate(f"{name}, node {excerpt(each.unit)}", stem, each.series, folder)
        text = f"{found.description}; {each.description}"
        yield replace(found, form=f"MONROE's pings, {found.form}", description=text)


def _delay_rate(name: str, stem: str, series: DelayRate, folder: str) -> Imported:
    files, parts = dict[str, bytes](), [f"{series.at_ms[-1] / 1000:g} s"]
    delay = ""
    if (steps := series.delay_steps(name)) is not None:
        interval_ms, delay_ms = steps
        files[f"{stem}.delays"] = micro_lines(delay_ms)
        delay = f"jitter recorded {folder}/{stem}.delays {interval_ms:.9g}ms"
        half = ", half of each round trip" if series.of_round_trips else ""
        parts.append(f"one way {delay_ms.min():.4g} to {delay_ms.max():.4g} ms{half}")
    stages = {}
    for way, mbit_s in (("down", series.down_mbit_s), ("up", series.up_mbit_s)):
        if mbit_s is not None:
            rates = series.rates(mbit_s)
            _bytes_of(rates, name)
            opportunities_ms = opportunities_of(rates, name)
            files[f"{stem}.{way}.trace"] = whole_lines(opportunities_ms)
            parts.append(f"{way} {_rate(opportunities_ms)}")
            link = f"trace {folder}/{stem}.{way}.trace"
            # Delay and link are in opposite orders downstream and upstream, as with `--rtt`.
            both = (delay, link) if way == "down" else (link, delay)
            stages[way] = ", ".join(part for part in both if part)
        elif delay and (series.of_round_trips or way == "down"):
            stages[way] = delay
    parts += [f"passed over: {', '.join(map(excerpt, series.passed_over))}"] * bool(
        series.passed_over
    )
    return Imported(name, _describe_series(series), "; ".join(parts), files, stages)


def _bytes_of(series: RateSeries, name: str) -> int:
    """Return the size of a series' trace; raises `TraceError` if it is too large to be read."""
    size = text_bytes(series, name)
    if size > TRACE.bytes_max:
        fault = f"its trace would have {_more(size, TRACE.bytes_max)}"
        raise TraceError(f"{name}: {fault}, the most that is read of one; shorten it")
    return size


def _more(size: int, most: int, what: str = "") -> str:
    return f"{size / MB:,.0f} MB{what}, more than {most / MB:.0f} MB"


def _describe_series(series: DelayRate) -> str:
    has_rate = series.down_mbit_s is not None or series.up_mbit_s is not None
    parts = ["delay"] * (series.delay_ms is not None) + ["rate"] * has_rate
    return " and ".join(parts) + " over time"


def _parse(name: str, content: bytes) -> NDArray[np.int64]:
    return parse_mahimahi(text_of(content, Source(name, TRACE, TraceError), keep_mark=True), name)


def _table(content: bytes, source: Source) -> str:
    return text_of(utf8_of(content, source), source)


def _describe(opportunities_ms: NDArray[np.int64]) -> str:
    return f"{opportunities_ms[-1] / 1000:g} s, {_rate(opportunities_ms)}"


def _rate(opportunities_ms: NDArray[np.int64]) -> str:
    return f"{mean_rate_bit_s(opportunities_ms) / 1e6:.3g} Mbit/s in the mean"


def _stem(name: str) -> str:
    """Return the file's name as a word in a stage: without folders, known suffix and spaces."""
    last = name.rpartition("/")[2]
    base = re.sub(r"\.(csv|txt|trace|light)$", "", last, flags=re.IGNORECASE)
    return re.sub(r"[^A-Za-z0-9._-]", "-", base).lstrip(".") or "link"


def _alone(name: str) -> TraceError:
    return TraceError(
        f"{name}: a light recording without its saturated one; name that right behind it, as "
        "`down-delay-light-pdo down-pdo`"
    )


FCC = ("unit_id", "dtime", "target", "bytes_sec_interval", "sequence", "successes")
MONROE = ("nodeid", "iccid", "timestamp", "rtt")

INTERVAL_MS = 5000.0
"""Length of an interval of the FCC's tests: `sequence` 0 is the first 5 s."""
SEQUENCES_MAX = 1000
UNITS_MAX = 100
_FILTER = "keep the rows of the units that are wanted"
_YEAR_FIRST = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
"""The beginning of a time that sorts as text; spreadsheets write `9/1/2020 0:00` for it."""
_UNANSWERED = ("", "none", "null", "nan", "na")
_Key = TypeVar("_Key", float, int)


@dataclass(frozen=True)
class UnitRates:
    """Rates of one unit of the FCC's campaign, with its tests concatenated."""

    unit: str
    series: RateSeries
    description: str


@dataclass(frozen=True)
class UnitDelays:
    """Round trips of one MONROE node and operator."""

    unit: str
    series: DelayRate
    description: str


def _is_fcc(cells: Sequence[str]) -> bool:
    """Return whether the heading is that of FCC's multithreaded throughput tests."""
    return {*FCC} <= {cell.lower() for cell in cells}


def _is_monroe(cells: Sequence[str]) -> bool:
    """Return whether the heading is that of MONROE's pings."""
    return {*MONROE} <= {cell.lower() for cell in cells}


def parse_fcc(text: str, source: Source) -> Iterator[UnitRates]:
    """Yield each unit in the file's order. Raises the source's error with its line.

    Failed intervals and incomplete tests are left out and counted.
    """
    tests: dict[str, dict[tuple[str, str], dict[int, float]]] = {}
    failed = 0
    for number, (unit, dtime, target, rate, sequence, successes) in _rows(text, FCC, source):
        of_unit = tests.setdefault(_check_bounds(tests, unit, number, source), {})
        at = _number(sequence, "sequence", number, source, SEQUENCES_MAX)
        mbit_s = _number(rate, "bytes_sec_interval", number, source, RATE_MBIT_S_MAX * 1e6 / 8)
        if not _YEAR_FIRST.match(dtime):
            fault = f"dtime is `{excerpt(dtime)[:40]}`, which does not begin with the year"
            raise source.refusal(
                fault, str(number), "write it as the campaign: 2020-09-01 08:00:00"
            )
        if _number(successes, "successes", number, source, SEQUENCES_MAX) == 0:
            failed += 1
            continue
        of_test = of_unit.setdefault((dtime, target), {})
        _add(of_test, int(at), mbit_s * 8 / 1e6, f"interval {at:g} of its test", number, source)
    for unit, of_unit in tests.items():
        # Timestamps sort as text, since they begin with the year.
        whole = [found for _, found in sorted(of_unit.items()) if [*sorted(found)] == _upto(found)]
        rates = [found[at] for found in whole for at in range(len(found))]
        if not rates:
            raise source.refusal(f"unit {excerpt(unit)} has no whole test", "", _FILTER)
        edges = np.arange(len(rates) + 1, dtype=np.float64) * INTERVAL_MS
        left = len(of_unit) - len(whole)
        description = _several(len(whole), "whole test") + " one behind the other" * (
            len(whole) > 1
        )
        description += ", a rate each 5 s, as TCP had it"
        description += f"; left out: {left} that lack{'s' * (left == 1)} an interval" * bool(left)
        description += f"; in the file {_several(failed, 'failed interval')}" * bool(failed)
        yield UnitRates(unit, RateSeries(edges, np.array(rates)), description)


def parse_monroe(text: str, source: Source) -> Iterator[UnitDelays]:
    """Yield each node and operator in the file's order. Raises the source's error with its line."""
    pings: dict[str, dict[float, float]] = {}
    lost: dict[str, int] = {}
    for number, (node, iccid, timestamp, rtt) in _rows(text, MONROE, source):
        unit = _check_bounds(pings, f"{node}-{iccid}", number, source)
        of_unit = pings.setdefault(unit, {})
        if rtt.lower() in _UNANSWERED:
            lost[unit] = lost.get(unit, 0) + 1
            continue
        at_s = _number(timestamp, "timestamp", number, source, 1e11)
        rtt_ms = _number(rtt, "rtt", number, source, 2 * DELAY_MS_MAX)
        _add(of_unit, at_s, rtt_ms, "its timestamp", number, source)
        if rtt_ms == 0:
            fault = "a round trip of 0, so none was measured"
            raise source.refusal(fault, str(number), "leave `rtt` empty where no answer came")
    for unit, of_unit in pings.items():
        if len(of_unit) < 2:
            raise source.refusal(f"node {excerpt(unit)} has fewer than two answers", "", _FILTER)
        times = sorted(of_unit)
        at_ms = (np.array(times) - times[0]) * 1000
        gap_s = max(later - earlier for earlier, later in pairwise(times))
        series = DelayRate(
            at_ms=np.append(at_ms, 2 * at_ms[-1] - at_ms[-2]),
            delay_ms=np.array([of_unit[at] for at in times]) / 2,
            down_mbit_s=None,
            up_mbit_s=None,
            of_round_trips=True,
            passed_over=(),
        )
        without = lost.get(unit, 0)
        description = f"{len(times)} answers, at most {gap_s:.4g} s apart"
        description += f", {_several(without, 'ping')} without one"
        yield UnitDelays(unit, series, description)


def _rows(text: str, names: Sequence[str], source: Source) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each row's line number and the cells of these columns."""
    rows = csv_rows(text, source)
    heading, cells = next(rows)
    words = [cell.lower().lstrip("\ufeff") for cell in cells]
    places = [words.index(name) for name in names]
    if len({*words}) != len(words):
        raise source.refusal("two columns of one name", str(heading), "keep one of them")
    for number, row in rows:
        if len(row) != len(words):
            fault = f"{len(row)} cells, and the heading has {len(words)}"
            raise source.refusal(fault, str(number), "write as many in each row")
        yield number, [row[place] for place in places]


def _add(
    found: dict[_Key, float], key: _Key, value: float, what: str, number: int, source: Source
) -> None:
    """Add a value; raises the source's error if its key has another one."""
    if found.setdefault(key, value) != value:
        fault = f"{what} has another value in an earlier row"
        raise source.refusal(fault, str(number), "keep the rows of one measurement")


def _several(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _check_bounds(units: Mapping[str, object], unit: str, number: int, source: Source) -> str:
    """Return the unit; raises the source's error if there are too many units."""
    if unit not in units and len(units) == UNITS_MAX:
        raise source.refusal(f"more than {UNITS_MAX} units", str(number), _FILTER)
    return unit


def _upto(found: dict[int, float]) -> list[int]:
    return [*range(len(found))]


def _number(text: str, name: str, number: int, source: Source, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= most or "_" in text:
        fault = f"{name} is `{excerpt(text)[:40]}`, which is not a number from 0 to {most:g}"
        raise source.refusal(fault, str(number), "write it as the campaign does")
    return value


OPPORTUNITIES_MAX = 10_000
"""Maximum number of opportunities of a train; a short one has fewer."""
PATH_MS_MAX = 1.8e13
"""Maximum time, ms: the path counts nanoseconds in 64 bits."""

_SPACE = 32
_NUMBER = rb"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_LINE = re.compile(rb"%b(?: %b){2,}" % (_NUMBER, _NUMBER))
_AS = "write `AT DELAY OPPORTUNITY ...` in milliseconds, single spaces between"


@dataclass(frozen=True)
class Light:
    """A light recording: its trains in order; the last one's time is the recording's length."""

    at_ms: NDArray[np.float64]
    delay_ms: NDArray[np.float64]
    packets: NDArray[np.int64]


def parse_light(content: bytes, source: Source) -> Light:
    """Parse the trains. Raises the source's error with the line of the first invalid one."""
    text = lines_without_ends(content)
    if not text or text.translate(None, b"0123456789. \n"):
        raise _no_train(text, source)
    pieces: list[Light] = []
    done = 0
    for piece in pieces_of_lines(text):
        found = _of_piece(piece, done, source)
        if found is None:
            raise _no_train(text, source)
        pieces.append(found)
        done += len(found.at_ms)
    at_ms = np.concatenate([piece.at_ms for piece in pieces])
    later = np.append(True, np.diff(_whole_ns(at_ms)) > 0)
    _refuse(~later, "the train is not later than the one before", "sort them by time", 0, source)
    if len(at_ms) < 2:
        raise source.refusal(
            "a light recording of one train", "1", "give two: the last one's time is its length"
        )
    return Light(
        at_ms,
        np.concatenate([piece.delay_ms for piece in pieces]),
        np.concatenate([piece.packets for piece in pieces]),
    )


def _of_piece(text: bytes, done: int, source: Source) -> Light | None:
    """Parse the trains of some lines after `done` earlier ones.

    Returns None if a line is invalid.
    """
    signs = np.frombuffer(text + b"\n", np.uint8)
    ends = np.flatnonzero(signs <= _SPACE)
    # A number is missing between two separators, or at the start.
    if ends[0] == 0 or (np.diff(ends) == 1).any():
        return None
    found = numbers(text, " ", float).astype(np.float64, copy=False)
    if len(found) != len(ends):
        return None
    last = np.flatnonzero(signs[ends] != _SPACE)
    first = np.concatenate(([0], last[:-1] + 1))
    packets = last - first - 1
    wrong = (packets < 1) | (packets > OPPORTUNITIES_MAX)
    _refuse(wrong, f"a train of no packets, or of over {OPPORTUNITIES_MAX}", _AS, done, source)
    at_ms, delay_ms = found[first], found[first + 1]
    far = np.logical_or.reduceat(found >= PATH_MS_MAX, first)
    far |= (at_ms > MS_MAX) | (delay_ms > DELAY_MS_MAX)
    _refuse(
        far, "a train beyond 30 days, or a delay beyond 60 s", "write milliseconds", done, source
    )
    back = np.append(False, np.diff(_whole_ns(found)) < 0)
    back[first] = back[first + 1] = back[first + 2] = False
    wrong = np.logical_or.reduceat(back, first)
    fault = "its packets do not come one after the other"
    _refuse(wrong, fault, "sort them by time", done, source)
    return Light(at_ms, delay_ms, packets)


def _whole_ns(ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return nanoseconds, rounded as the path rounds them."""
    return np.floor(ms * 1e6 + 0.5)


def _no_train(text: bytes, source: Source) -> Exception:
    row = max(0, first_line(text, lambda line: _LINE.fullmatch(line) is not None))
    quoted = excerpt(text.split(b"\n", row + 1)[row].decode("utf-8", "replace"))[:40]
    return source.refusal(f"`{quoted}` is no train", str(row + 1), _AS)


def _refuse(wrong: NDArray[np.bool_], fault: str, remedy: str, done: int, source: Source) -> None:
    if wrong.any():
        raise source.refusal(fault, str(done + int(np.argmax(wrong)) + 1), remedy)
