"""Read series of delay and rate, as measured on satellite and other links: one row per time.

Columns are recognised by name and unit, in any order; others are ignored. Without a heading they
are seconds and Mbit/s, also separated by spaces, like traces for video streaming. A rate is
converted to a packet-delivery trace, a delay to a series of equal steps, for the stages `trace` and
`jitter recorded`.

Read and write rates as CSV: one time and rate per line.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.cell_numbers import is_written_number, style_of
from eyelevel.base.from_outside.csv_rows import (
    SEPARATORS,
    csv_cells,
    find_commented_heading,
    find_comments_above,
    read_separator,
    separator_of,
    utf8_of,
)
from eyelevel.base.from_outside.headings import (
    DELAY,
    RATE,
    TIME,
    Column,
    Quantity,
    find_unit,
    rate_words,
    read_heading,
)
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.number_columns import keep_lines, number_columns
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.traces.rates import RateSeries

_TIMES = (
    Quantity(
        "time",
        TIME,
        frozenset(("time", "t", "timestamp")),
        {"time": 1000.0, "t": 1000.0, "seconds": 1000.0},
    ),
)
_QUANTITIES = (
    Quantity("delay", DELAY, frozenset(("delay", "owd"))),
    Quantity("rtt", DELAY, frozenset(("rtt",))),
    Quantity("down", RATE, rate_words("down", alone=True)),
    Quantity("up", RATE, rate_words("up")),
)
_GROUPS = re.compile(rb"[0-9](?:[ ']|\xc2\xa0|\xe2\x80[\x89\x99\xaf])[0-9]{3}")
"""Bytes that may separate thousands: spaces and apostrophes, in UTF-8."""
_BLANKS = re.compile(rb"\xc2\xa0|\xe2\x80[\x89\xaf]")
"""Blanks in UTF-8 that numpy does not skip beside a number."""
_EXAMPLE = "time_s,rtt_ms,down_mbit_s,up_mbit_s"

_SECOND_MS = 1000.0

LAST_MS = 1000.0
"""Duration of a series with one row, ms."""
RATE_MBIT_S_MAX = 1_000_000.0
DELAY_MS_MAX = 60_000.0
"""Maximum delay, ms; the stage `jitter` truncates longer ones to it."""
MS_MAX = 30 * 86_400_000.0
SINCE_1970_MS_MAX = 1e14
"""Maximum time since 1970, in the year 5138: larger ones are ms or us under a heading for s."""
STEPS_MAX = 50_000_000
_ALIKE_MIN = 3
"""Minimum number of steps on either side of a change of units."""
_FAR, _UNIT_TOLERANCE = 100.0, 0.2


@dataclass(frozen=True)
class DelayRate:
    """A series of delays and rates; each value holds until the next time.

    `at_ms` begins at 0 and has one element more than the values, the end. Delays are one-way.
    Quantities that were not measured are None.
    """

    at_ms: NDArray[np.float64]
    delay_ms: NDArray[np.float64] | None
    down_mbit_s: NDArray[np.float64] | None
    up_mbit_s: NDArray[np.float64] | None
    of_round_trips: bool
    passed_over: tuple[str, ...]

    def rates(self, mbit_s: NDArray[np.float64]) -> RateSeries:
        """Return the series of one direction's rate."""
        return RateSeries(self.at_ms, mbit_s)

    def delay_steps(self, name: str) -> tuple[float, NDArray[np.float64]] | None:
        """Return the delay in equal steps and their length, ms, with the same total length.

        With irregular times a step is about as long as their median, and has the last value
        measured by its middle.
        """
        if self.delay_ms is None:
            return None
        length = self.at_ms[-1]
        count = max(1, round(length / float(np.median(np.diff(self.at_ms)))))
        if count > STEPS_MAX:
            raise TraceError(
                f"{name}: {count} steps of delay, more than {STEPS_MAX}; name the unit of time"
            )
        middle = (np.arange(count) + 0.5) * (length / count)
        at = np.searchsorted(self.at_ms[:-1], middle, side="right") - 1
        return float(length / count), self.delay_ms[at]


def is_delay_rate(head: bytes, source: Source) -> bool:
    """Return whether a file with this beginning is a series, by its heading or two numbers per row.

    Raises the source's error for a heading with a time and an unknown unit.
    """
    rows = _rows(head, source)
    if not rows.cells:
        return False
    if rows.columns is None:
        return len(rows.cells) == 2
    return "time" in rows.columns and len(rows.columns) > 1


def names_time_or_rate(head: bytes, source: Source) -> bool:
    """Return whether the heading of a file with this beginning has a time or a rate."""
    rows = _rows(head, source)
    return bool(rows.columns) or any(find_unit(cell, RATE) for cell in rows.cells)


@dataclass(frozen=True)
class _Rows:
    """A table's rows without its heading.

    It also has the cells' separator, the line of each row, and the columns by quantity, None
    without a heading.
    """

    body: bytes
    separator: str
    line: Callable[[int], int]
    cells: Sequence[str]
    columns: Mapping[str, Column] | None


def _rows(content: bytes, source: Source) -> _Rows:
    plain = utf8_of(content, source)
    body, line = keep_lines(plain)
    first, _, rest = body.partition(b"\n")
    stated = read_separator(first.decode("utf-8", "replace"), line(0), source) if body else None
    skipped = 0
    if stated is not None:
        body, skipped = rest, 1
        first, _, rest = body.partition(b"\n")
    head = first.decode("utf-8", "replace")
    separator = stated or separator_of(head)
    if stated is None and not any(sign in head for sign in SEPARATORS) and len(head.split()) > 1:
        separator = "\t"
        body = re.sub(rb"[ \t]*\n[ \t]*", b"\n", re.sub(rb"[ \t]+", b"\t", body.strip(b" \t")))
        first, _, rest = body.partition(b"\n")
        head = first.decode("utf-8", "replace")
    cells = csv_cells(head, separator, line(skipped), source) if head else []
    if not cells or is_written_number(cells[0]):  # a heading does not begin with a number
        for number, comment in find_comments_above(plain):
            heading = find_commented_heading(comment, cells)
            columns = _columns_of(heading, str(number), source)
            if len(columns) > 1 or ("time" in columns and columns["time"].scale != _SECOND_MS):
                at = _line_after(number, line, skipped)
                return _Rows(body, separator, at, heading, columns)
            _refuse_lost_units(heading, comment, str(number), source)
        return _Rows(body, separator, lambda row: line(row + skipped), cells, None)
    columns = _columns_of(cells, str(line(skipped)), source)
    return _Rows(rest, separator, lambda row: line(row + skipped + 1), cells, columns)


def _refuse_lost_units(heading: Sequence[str], comment: str, place: str, source: Source) -> None:
    """Raise the source's error for units in a comment that is no heading, if they would be lost.

    Rows without a heading are read as seconds and Mbit/s.
    """
    times, rates = (
        [kind.factor(find_unit(name, kind)) for name in heading] for kind in (TIME, RATE)
    )
    is_usual = times in ([_SECOND_MS, None], [None, _SECOND_MS], [None, None])
    if len(heading) == 2 and not (is_usual and rates in ([None, 1.0], [None, None])):
        fault = f"`{excerpt(comment)[:40]}` has units, but not all names of columns are known"
        raise source.refusal(fault, place, f"write it as `# {_EXAMPLE}`, or remove it")


def _columns_of(heading: Sequence[str], place: str, source: Source) -> dict[str, Column]:
    columns = read_heading(heading, _TIMES, place, source)
    if columns:  # otherwise it is another table, with units of its own
        columns |= read_heading(heading, _QUANTITIES, place, source)
    return columns


def _line_after(heading: int, line: Callable[[int], int], skipped: int) -> Callable[[int], int]:
    """Return the function from row to line number of a table with this line as its heading."""
    return lambda row: heading if row < 0 else line(row + skipped)


def parse_delay_rate(content: bytes, source: Source) -> DelayRate:
    """Parse the series. Raises the source's error with its line."""
    rows = _rows(content, source)
    line = rows.line
    columns = rows.columns
    heading = str(line(-1)) if columns is not None else ""
    if columns is None:
        if not rows.cells:
            raise source.refusal("no line with a time", "", f"write {_EXAMPLE} and a row a time")
        if len(rows.cells) != 2:
            count = len(rows.cells)
            fault = "one column" if count == 1 else f"{count} columns without a heading"
            remedy = f"write a time and a rate, such as `0.5,12.0`, or a heading such as {_EXAMPLE}"
            raise source.refusal(fault, str(line(0)), remedy)
        columns = {"time": Column(0, 1000.0, ""), "down": Column(1, 1.0, "")}
    if "time" not in columns or len(columns) == 1:
        what = "a time" if "time" not in columns else "a delay or a rate"
        fault = f"no column with {what} in `{excerpt(rows.separator.join(rows.cells))[:40]}`"
        raise source.refusal(fault, heading, f"name its columns with units, such as {_EXAMPLE}")
    if "delay" in columns and "rtt" in columns:
        both = " and ".join(f"`{excerpt(columns[name].heading)}`" for name in ("delay", "rtt"))
        raise source.refusal(f"columns {both} for one thing", heading, "keep one of them")
    if not rows.body:
        raise source.refusal("no line with a time", heading, "write a row a time")
    first = next(_cells_of(rows, source))
    if len(first) < len(rows.cells) or any(first[len(rows.cells) :]):
        fault = f"{len(first)} cells, and the heading has {len(rows.cells)}"
        remedy = "write as many in each row, decimals with a point, and quote separators in names"
        raise source.refusal(fault, str(line(0)), remedy)
    values = _values(rows, columns, source)
    at_ms = values.pop("time")
    steps = np.diff(at_ms)
    fault = "the same time as the row before; keep one row of each time, or write finer times"
    _refuse(np.append(False, steps == 0), fault, line, source)
    _refuse(np.append(False, steps < 0), "earlier than the row before; sort them", line, source)
    _refuse(at_ms > MS_MAX, "a time beyond 30 days; name its unit", line, source)
    changed = np.arange(len(at_ms)) == _find_unit_change(steps)
    fault = "times are 1000 times as far apart from here on, as in another unit; write one unit"
    _refuse(changed, fault, line, source)
    _check_values(values, line, source)
    end = at_ms[-1] + (steps[-1] if len(steps) else LAST_MS)
    used = {column.index for column in columns.values()}
    rtt_ms = values.get("rtt")
    return DelayRate(
        at_ms=np.append(at_ms, end),
        delay_ms=values.get("delay") if rtt_ms is None else rtt_ms / 2,
        down_mbit_s=values.get("down"),
        up_mbit_s=values.get("up"),
        of_round_trips=rtt_ms is not None,
        passed_over=tuple(cell for at, cell in enumerate(rows.cells) if cell and at not in used),
    )


def _values(
    rows: _Rows, columns: Mapping[str, Column], source: Source
) -> dict[str, NDArray[np.float64]]:
    """Return each quantity's values, in ms since the first row and in Mbit/s."""
    wanted = [column.index for column in columns.values()]
    body, separator = rows.body, rows.separator
    if not _is_plain(rows, wanted, source):
        body, separator = _with_points(rows, wanted, source), "\t"
        wanted = [*range(len(wanted))]
    found = number_columns(body, wanted, separator, rows.line, source)
    values = {}
    for (name, column), each in zip(columns.items(), found, strict=True):
        if name == "time":
            far = np.abs(each) * column.scale > SINCE_1970_MS_MAX
            fault = "a time of {:.0f}, thousands of years if its unit is the heading's; "
            remedy = "name its unit, such as `time_ms`"
            _refuse(far, fault + remedy, rows.line, source, each)
            values[name] = _since_first(each, column.scale)
        else:
            values[name] = each * column.scale
    return values


def _since_first(times: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return milliseconds since the first time, rounded to the precision of the times.

    2.001 s are not 2001 ms in binary, and for seconds since 1970 the last digits are noise.
    """
    grain_ms = float(np.spacing(np.abs(times).max())) * scale
    decimals = min(6, int(np.floor(-np.log10(grain_ms))))
    since: NDArray[np.float64] = np.round((times - times[0]) * scale, decimals)
    return since


def _find_unit_change(steps: NDArray[np.float64]) -> int:
    """Return the row from which the times seem to be in a smaller unit, or -1.

    From there on, all steps are far longer than all before, by a factor of 1,000 or a million in
    their medians. The step to that row itself is of neither unit.
    """
    last = len(steps) - _ALIKE_MIN - 1
    if last < _ALIKE_MIN:
        return -1
    longest_before = np.maximum.accumulate(steps)[_ALIKE_MIN - 1 : last]
    shortest_after = np.minimum.accumulate(steps[::-1])[::-1][_ALIKE_MIN + 1 : last + 2]
    for at in np.flatnonzero(shortest_after > _FAR * longest_before)[-1:] + _ALIKE_MIN:
        factor = float(np.median(steps[at + 1 :]) / np.median(steps[:at]))
        if any(abs(factor / unit - 1) < _UNIT_TOLERANCE for unit in (1e3, 1e6)):
            return int(at) + 1
    return -1


def _cells_of(rows: _Rows, source: Source) -> Iterator[list[str]]:
    """Yield the cells of each row."""
    for row, text in enumerate(rows.body.split(b"\n")):
        line = text.decode("utf-8", "replace")
        yield csv_cells(line, rows.separator, rows.line(row), source)


def _is_plain(rows: _Rows, wanted: Sequence[int], source: Source) -> bool:
    """Return whether numpy can parse all numbers: decimal points, no thousands separators."""
    body, sign = rows.body, rows.separator.encode()
    end = re.escape(sign)
    if sign != b"," and b"," in body:
        return False
    if _GROUPS.search(body) or _BLANKS.search(body) or re.search(end + rb"[\t ]*(?:\n|\Z)", body):
        return False
    if b'"' in body and b'"' in re.sub(rb'"[^"\n' + end + rb']*"', b"", body):
        return False  # a separator is quoted
    if sign == b"," or b"." not in body:
        return True
    places = (
        (str(rows.line(row)), cells[at])
        for row, cells in enumerate(_cells_of(rows, source))
        for at in wanted
        if at < len(cells)
    )
    return style_of(rows.separator, places).decimal == "."


def _with_points(rows: _Rows, wanted: Sequence[int], source: Source) -> bytes:
    """Return the wanted columns, tab-separated, as plain decimal numbers."""
    cells: list[list[str]] = []
    width = len(rows.cells)
    for row, parts in enumerate(_cells_of(rows, source)):
        # Empty cells at the end of a row are ignored, as in users' tables.
        if len(parts) < width or any(parts[width:]):
            fault = f"{len(parts)} cells, and the first row has {width}"
            raise source.refusal(fault, str(rows.line(row)), "write as many in each row")
        cells.append([parts[at].replace("\t", " ") for at in wanted])
    style = style_of(
        rows.separator,
        ((str(rows.line(row)), cell) for row, each in enumerate(cells) for cell in each),
    )
    lines = []
    for row, each in enumerate(cells):
        place = str(rows.line(row))
        numbers = [style.read(cell, place, source) for cell in each]
        lines.append(
            "\t".join(
                cell if number is None else repr(number)
                for cell, number in zip(each, numbers, strict=True)
            )
        )
    return "\n".join(lines).encode()


def _check_values(
    values: Mapping[str, NDArray[np.float64]], line: Callable[[int], int], source: Source
) -> None:
    for name, found in values.items():
        if name in ("delay", "rtt"):
            what = "round trip" if name == "rtt" else "delay"
            fault = f"a {what} of {{:g}}, so none was measured"
            lost = found <= 0 if name == "rtt" else found < 0
            remedy = "leave out the rows of lost packets: the row before then holds for longer"
            _refuse(lost, f"{fault}; {remedy}", line, source, found)
            far = found * (0.5 if name == "rtt" else 1) > DELAY_MS_MAX
            fault = f"a value outside of 0 to {DELAY_MS_MAX:g} ms, one way; name its unit"
        else:
            fault = "a rate of {:g} Mbit/s; leave the row out, or write 0 where nothing is sent"
            _refuse(found < 0, fault, line, source, found)
            far = found > RATE_MBIT_S_MAX
            fault = f"a value outside of 0 to {RATE_MBIT_S_MAX:g} Mbit/s; name its unit"
        _refuse(far, fault, line, source)


def _refuse(
    wrong: NDArray[np.bool_],
    fault: str,
    line: Callable[[int], int],
    source: Source,
    values: NDArray[np.float64] | None = None,
) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        reason, _, remedy = fault.partition("; ")
        reason = reason if values is None else reason.format(values[row])
        raise source.refusal(reason, str(line(row)), remedy)


def parse_rates(content: bytes | str, name: str) -> RateSeries:
    """Parse the rates of a table of one direction, as `delay_rate` does.

    A rate holds until the next line's time, the last one as long as the one before. Raises
    `TraceError` with file and line.
    """
    content = content.encode() if isinstance(content, str) else content
    series = parse_delay_rate(content, Source(name, TRACE, TraceError))
    if series.down_mbit_s is not None and series.up_mbit_s is not None:
        raise TraceError(
            f"{name}: rates of both directions; import it with `eyelevel trace import`, which "
            "writes a trace of each"
        )
    mbit_s = series.up_mbit_s if series.down_mbit_s is None else series.down_mbit_s
    if mbit_s is None:
        raise TraceError(
            f"{name}: no column with a rate; name it with its unit, as in {_EXAMPLE}, or use "
            "`eyelevel trace import` for delays"
        )
    return series.rates(mbit_s)


def format_rates(series: RateSeries) -> str:
    """Return CSV with a heading: the time at which each rate begins, in seconds, and the rate.

    The format has no end time, so a last interval that is shorter than the one before is expressed
    by splitting that one in two, so that the last two are equally long. No digit is lost.
    """
    at_ms, mbit_s = series.at_ms, series.mbit_s
    if len(mbit_s) == 1:
        at_ms, mbit_s = np.insert(at_ms, 1, at_ms.mean()), np.repeat(mbit_s, 2)
    elif (rest := at_ms[-1] - at_ms[-2]) < at_ms[-2] - at_ms[-3]:
        at_ms = np.insert(at_ms, -2, at_ms[-2] - rest)
        mbit_s = np.insert(mbit_s, -1, mbit_s[-2])
    lines = [
        f"{_shortest(at / 1000)},{_shortest(rate)}"
        for at, rate in zip(at_ms[:-1].tolist(), mbit_s.tolist(), strict=True)
    ]
    return "\n".join(["time_s,mbit_s", *lines]) + "\n"


def _shortest(value: float) -> str:
    """Return the shortest decimal text that parses to this number."""
    return repr(value).removesuffix(".0")
