"""Convert other tools' recordings of links to files and stages that replay them.

The format is recognised by the first line, never by the file's name. Pure: callers read and write
the files.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.csv_rows import csv_rows, utf8_of
from eyelevel.base.from_outside.files import text_of
from eyelevel.base.from_outside.limits import MB, TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.traces.campaigns import is_fcc, is_monroe, parse_fcc, parse_monroe
from eyelevel.plan.traces.delay_rate import DelayRate, is_delay_rate, parse_delay_rate
from eyelevel.plan.traces.light import LINE, parse_light
from eyelevel.plan.traces.lines import micro_lines, whole_lines
from eyelevel.plan.traces.mahimahi import OPPORTUNITY_BYTES, mean_rate_bit_s, parse_mahimahi
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
    said: str
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
            yield replace(found, said=f"{found.said}; {apart}")
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
    if _HSDPA.fullmatch(head):
        raise source.refusal(
            f"`{excerpt(head.decode())[:40]}` is a line of an HSDPA or LTE log of bytes received",
            "1",
            "write it as CSV: a heading `time_ms,kbps`, then column 2 less column 6, and 8 times "
            "column 5 divided by column 6",
        )
    if LINE.fullmatch(head) or (len(lines) == 1 and LINE.match(head)):
        return LIGHT
    if any(sign in head for sign in b",;\t|"):
        _, cells = next(csv_rows(begin.decode("utf-8", "replace"), source), (1, []))
        forms = {FCC_TABLE: is_fcc, MONROE_TABLE: is_monroe}
        if found := next((form for form, is_it in forms.items() if is_it(cells)), ""):
            return found
    if is_delay_rate(begin, source):
        return SERIES
    if not head:
        fault = "no row in its first 64 kB" if content.strip() else "the file is empty"
        raise source.refusal(fault, "", f"known: {FORMS}")
    shown = f"`{excerpt(head.decode('utf-8', 'replace'))[:40]}`"
    raise source.refusal(f"{shown} begins no form that is known", "1", f"known: {FORMS}")


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
    said = (
        f"{len(trains.at_ms)} trains in {trains.at_ms[-1] / 1000:g} s, of "
        f"{trains.packets.min()} to {trains.packets.max()} packets, one way "
        f"{delays[0]:.3g}, {delays[1]:.3g}, {delays[2]:.3g} ms (p5, p50, p95); saturated "
        f"({heavy[0]}): {opportunities_ms[-1] / 1000:g} s, {mean_bit_s / 1e6:.3g} Mbit/s in the "
        f"mean of {CELLREPLAY_BYTES} bytes an opportunity"
    )
    names = " ".join(f"{folder}/{file}" for file in files)
    stage = f"cell {names} opportunity {CELLREPLAY_BYTES}B"
    return Imported(light[0], "CellReplay's two parts", said, files, {"either": stage})


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
            f"{_describe(opportunities_ms)}; {each.said}",
            {file: whole_lines(opportunities_ms)},
            {"either": f"trace {folder}/{file}"},
        )


def _monroe(name: str, content: bytes, folder: str) -> Iterator[Imported]:
    source = Source(name, TRACE, TraceError)
    for each in parse_monroe(_table(content, source), source):
        stem = f"{_stem(name)}-{_stem(each.unit)}"
        found = _delay_rate(f"{name}, node {excerpt(each.unit)}", stem, each.series, folder)
        said = f"{found.said}; {each.said}"
        yield replace(found, form=f"MONROE's pings, {found.form}", said=said)


def _delay_rate(name: str, stem: str, series: DelayRate, folder: str) -> Imported:
    files, said = dict[str, bytes](), [f"{series.at_ms[-1] / 1000:g} s"]
    delay = ""
    if (steps := series.delay_steps(name)) is not None:
        interval_ms, delay_ms = steps
        files[f"{stem}.delays"] = micro_lines(delay_ms)
        delay = f"jitter recorded {folder}/{stem}.delays {interval_ms:.9g}ms"
        half = ", half of each round trip" if series.of_round_trips else ""
        said.append(f"one way {delay_ms.min():.4g} to {delay_ms.max():.4g} ms{half}")
    stages = {}
    for way, mbit_s in (("down", series.down_mbit_s), ("up", series.up_mbit_s)):
        if mbit_s is not None:
            rates = series.rates(mbit_s)
            _bytes_of(rates, name)
            opportunities_ms = opportunities_of(rates, name)
            files[f"{stem}.{way}.trace"] = whole_lines(opportunities_ms)
            said.append(f"{way} {_rate(opportunities_ms)}")
            link = f"trace {folder}/{stem}.{way}.trace"
            # Delay and link are in opposite orders downstream and upstream, as with `--rtt`.
            both = (delay, link) if way == "down" else (link, delay)
            stages[way] = ", ".join(part for part in both if part)
        elif delay and (series.of_round_trips or way == "down"):
            stages[way] = delay
    said += [f"passed over: {', '.join(map(excerpt, series.passed_over))}"] * bool(
        series.passed_over
    )
    return Imported(name, _describe_series(series), "; ".join(said), files, stages)


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
