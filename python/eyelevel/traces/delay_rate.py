"""Delay and rate over time, as measured of satellite and other links: CSV with a heading.

Its columns are told by their names, in any order, and have their units in them; the others are
passed over. A rate becomes a packet-delivery trace, a delay a series of even steps, which is what
the stages `trace` and `jitter recorded` replay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.errors import TraceError
from eyelevel.from_outside.csv_rows import csv_rows
from eyelevel.from_outside.number_columns import kept_lines, number_columns
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import quoted
from eyelevel.traces.rate_csv import LAST_MS, RATE_MBIT_S_MAX, RATES_MBIT_S, TIMES_MS
from eyelevel.traces.rates import RateSeries

SERIES_TIMES_MS = TIMES_MS | {"timestamp_s": 1000.0, "timestamp_ms": 1.0}
DELAYS_MS = {
    **{"delay_ms": 1.0, "owd_ms": 1.0, "delay_s": 1000.0, "delay_us": 1e-3},
    **{"rtt_ms": 0.5, "rtt_s": 500.0, "rtt_us": 0.5e-3},
}
"""Names of columns, and what a value of 1 is in milliseconds one way: of a round trip half."""

RATES_DOWN = {
    f"{way}{name}": value for way in ("", "down_") for name, value in RATES_MBIT_S.items()
}
RATES_UP = {f"up_{name}": value for name, value in RATES_MBIT_S.items()}

DELAY_MS_MAX = 60_000.0
"""What the stage `jitter` cuts longer delays to."""
MS_MAX = 30 * 86_400_000.0
STEPS_MAX = 50_000_000


@dataclass(frozen=True)
class DelayRate:
    """Each holds until the next time; `at_ms` has one more, the end, and begins at 0.

    Delays are one way. What was not measured is None.
    """

    at_ms: NDArray[np.float64]
    delay_ms: NDArray[np.float64] | None
    down_mbit_s: NDArray[np.float64] | None
    up_mbit_s: NDArray[np.float64] | None
    of_round_trips: bool
    passed_over: tuple[str, ...]

    def rates(self, mbit_s: NDArray[np.float64]) -> RateSeries:
        """One direction's rate."""
        return RateSeries(self.at_ms, mbit_s)

    def delay_steps(self, name: str) -> tuple[float, NDArray[np.float64]] | None:
        """The delay in even steps and their length in ms, as long in all as the series.

        Where times are uneven a step is about as long as their median, and has the last value that
        was measured by its middle.
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


def is_delay_rate(cells: Sequence[str]) -> bool:
    """Whether the heading names a time, and a delay or a rate, with their units."""
    names = {cell.lower() for cell in cells}
    return bool(names & SERIES_TIMES_MS.keys()) and bool(
        names & (DELAYS_MS.keys() | RATES_DOWN.keys() | RATES_UP.keys())
    )


def parse_delay_rate(content: bytes, source: Source) -> DelayRate:
    """The series. Raises the source's error with its line."""
    rows, line = kept_lines(content)
    heading, _, rows = rows.partition(b"\n")
    _, cells = next(csv_rows(heading.decode("utf-8-sig", "replace"), source), (1, []))
    where = str(line(0))
    separator = next((sign for sign in ";\t" if sign in heading.decode("latin-1")), ",")
    of_time = _column(cells, SERIES_TIMES_MS, where, source)
    of = [_column(cells, names, where, source) for names in (DELAYS_MS, RATES_DOWN, RATES_UP)]
    if of_time is None or not rows:
        fault = "no line with a time" if of_time is not None else "no column with the time"
        known = ", ".join(SERIES_TIMES_MS)
        raise source.refusal(fault, where, f"name it one of {known} and write a row a time")
    wanted = [of_time[0], *(each[0] for each in of if each)]
    if rows.partition(b"\n")[0].count(separator.encode()) + 1 != len(cells):
        raise source.refusal(
            "not as many cells as the heading", str(line(1)), "write as many in each row"
        )
    columns = number_columns(rows, wanted, separator, lambda row: line(row + 1), source)
    at_ms = (columns[0] - columns[0][0]) * of_time[1]
    left = iter(columns[1:])
    delay_ms, down, up = [next(left) * each[1] if each else None for each in of]
    steps = np.diff(at_ms)
    _refuse(
        np.append(False, ~(steps > 0)), "not later than the row before; sort them", line, source
    )
    _refuse(at_ms > MS_MAX, "a time beyond 30 days; name its unit", line, source)
    for values, most, unit in (
        *((delay_ms, DELAY_MS_MAX, "ms, one way"), (down, RATE_MBIT_S_MAX, "Mbit/s")),
        (up, RATE_MBIT_S_MAX, "Mbit/s"),
    ):
        if values is not None:
            wrong = (values < 0) | (values > most)
            _refuse(wrong, f"a value outside of 0 to {most:g} {unit}; name its unit", line, source)
    end = at_ms[-1] + (steps[-1] if len(steps) else LAST_MS)
    used = {*wanted}
    return DelayRate(
        at_ms=np.append(at_ms, end),
        delay_ms=delay_ms,
        down_mbit_s=down,
        up_mbit_s=up,
        of_round_trips=of[0] is not None and cells[of[0][0]].lower().startswith("rtt"),
        passed_over=tuple(cell for at, cell in enumerate(cells) if at not in used),
    )


def _column(
    cells: Sequence[str], names: dict[str, float], where: str, source: Source
) -> tuple[int, float] | None:
    found = [(at, names[cell.lower()]) for at, cell in enumerate(cells) if cell.lower() in names]
    if len(found) > 1:
        both = " and ".join(f"`{quoted(cells[at])}`" for at, _ in found)
        raise source.refusal(f"columns {both} for one thing", where, "keep one of them")
    return found[0] if found else None


def _refuse(
    wrong: NDArray[np.bool_], fault: str, line: Callable[[int], int], source: Source
) -> None:
    if wrong.any():
        said, _, remedy = fault.partition("; ")
        raise source.refusal(said, str(line(int(np.argmax(wrong)) + 1)), remedy)
