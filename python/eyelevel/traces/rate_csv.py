"""Rates as CSV: a time and a rate a line."""

import math

import numpy as np

from eyelevel.errors import TraceError
from eyelevel.from_outside.csv_rows import csv_rows
from eyelevel.from_outside.limits import TRACE
from eyelevel.from_outside.source import Source
from eyelevel.traces.rates import RateSeries

# Names of columns, and what a value of 1 is in milliseconds or Mbit/s. Any other heading is
# refused: a guessed unit makes a trace that looks right and is wrong by a factor.
TIMES_MS = {"time": 1000.0, "time_s": 1000.0, "t": 1000.0, "seconds": 1000.0, "time_ms": 1.0}
RATES_MBIT_S = {
    "mbit_s": 1.0,
    "mbit/s": 1.0,
    "mbps": 1.0,
    "rate_mbit_s": 1.0,
    "throughput_mbps": 1.0,
    "kbit_s": 1e-3,
    "kbps": 1e-3,
    "bit_s": 1e-6,
    "rate_bit_s": 1e-6,
}

LAST_MS = 1000.0
"""How long the rate of a file with one line holds."""

RATE_MBIT_S_MAX = 1_000_000.0


def parse_rates(text: str, name: str) -> RateSeries:
    """Rates from CSV text: time in seconds and Mbit/s, or as a heading from the tables above says.

    Separated by comma, semicolon or tab; lines that begin with `#` are passed over. A rate holds
    until the next line's time, the last one as long as the one before. Raises TraceError with file
    and line.
    """
    scale = (1000.0, 1.0)
    times: list[float] = []
    rates: list[float] = []
    for number, cells in csv_rows(text, Source(name, TRACE, TraceError)):
        place = f"{name}:{number}"
        if len(cells) < 2:
            raise TraceError(f"{place}: one column; write a time and a rate, such as `0.5,12.0`")
        if not times and _number(cells[0]) is None:
            scale = _heading(cells, place)
            continue
        time, rate = _number(cells[0]), _number(cells[1])
        if time is None or rate is None:
            wrong = cells[0] if time is None else cells[1]
            raise TraceError(f"{place}: `{_shown(wrong)}` is not a number; write a time and a rate")
        time, rate = time * scale[0], rate * scale[1]
        if not 0 <= rate <= RATE_MBIT_S_MAX:
            raise TraceError(f"{place}: a rate of {_shown(cells[1])}; write one from 0 to 1 Tbit/s")
        if times and time <= times[-1]:
            shown = _shown(cells[0])
            raise TraceError(f"{place}: the time {shown} is not after the one before; sort them")
        times.append(time)
        rates.append(rate)
    if not times:
        raise TraceError(f"{name}: no line with a time and a rate; write them as `0.5,12.0`")
    times.append(times[-1] + (times[-1] - times[-2] if len(times) > 1 else LAST_MS))
    return RateSeries(np.array(times), np.array(rates))


def format_rates(series: RateSeries) -> str:
    """CSV with a heading: the time at which each rate begins, in seconds, and the rate."""
    lines = [
        f"{at_ms / 1000:g},{rate:.6g}"
        for at_ms, rate in zip(series.at_ms[:-1], series.mbit_s, strict=True)
    ]
    return "\n".join(["time_s,mbit_s", *lines]) + "\n"


def _heading(cells: list[str], place: str) -> tuple[float, float]:
    time, rate = cells[0].lower(), cells[1].lower()
    if time not in TIMES_MS:
        raise TraceError(
            f"{place}: column `{_shown(cells[0])}`; name the time one of {', '.join(TIMES_MS)}"
        )
    if rate not in RATES_MBIT_S:
        known = ", ".join(RATES_MBIT_S)
        raise TraceError(f"{place}: column `{_shown(cells[1])}`; name the rate one of {known}")
    return TIMES_MS[time], RATES_MBIT_S[rate]


def _shown(cell: str) -> str:
    """A cell for a message: on one line and short, since quotes may hold any text."""
    return " ".join(cell.split())[:40]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
