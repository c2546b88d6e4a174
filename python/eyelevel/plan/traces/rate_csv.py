"""Read and write rates as CSV: one time and rate per line."""

import numpy as np

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.plan.traces.delay_rate import EXAMPLE, parse_delay_rate
from eyelevel.plan.traces.rates import RateSeries


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
            f"{name}: no column with a rate; name it with its unit, as in {EXAMPLE}, or use "
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
