"""Traces on disk: Mahimahi's format, or CSV if the name ends in `.csv`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from eyelevel.errors import TraceError
from eyelevel.traces.mahimahi import format_mahimahi, parse_mahimahi
from eyelevel.traces.rate_csv import format_rates, parse_rates
from eyelevel.traces.rates import opportunities_of, rates_of

CSV_SUFFIX = ".csv"


def read_trace(file: Path) -> NDArray[np.int64]:
    """The opportunities in milliseconds; TraceError with file, line and remedy."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(f"{file}: not text at byte {error.start}; is it a trace?") from None
    if file.suffix.lower() == CSV_SUFFIX:
        return opportunities_of(parse_rates(text, str(file)), str(file))
    return parse_mahimahi(text, str(file))


def write_trace(file: Path, opportunities_ms: NDArray[np.int64], bin_ms: int) -> None:
    """Write a trace; of CSV a line for each `bin_ms`."""
    if file.suffix.lower() == CSV_SUFFIX:
        text = format_rates(rates_of(opportunities_ms, bin_ms))
    else:
        text = format_mahimahi(opportunities_ms)
    file.write_text(text, encoding="ascii")
