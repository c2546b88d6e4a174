"""Mahimahi's format: one opportunity a line, in whole milliseconds, in order."""

import numpy as np
from numpy.typing import NDArray

from eyelevel.errors import TraceError
from eyelevel.lab_tables import LIMITS

OPPORTUNITY_BYTES = 1500
OPPORTUNITY_BITS = OPPORTUNITY_BYTES * 8

OPPORTUNITIES_MAX = int(LIMITS["opportunities"].max)
MS_MAX = int(LIMITS["opportunity_ms"].max)  # 30 days: a later opportunity is a mistake of units

DIGITS_MAX = 40  # leading zeros are allowed, thousands of digits are no number


def parse_mahimahi(text: str, name: str) -> NDArray[np.int64]:
    """The opportunities that `text` lists; `name` is the file's for messages.

    Raises TraceError for a line that is no whole number, is less than the one before or beyond 30
    days, and for a trace without duration: what the path refuses, with the same remedies.
    """
    lines = text.splitlines()
    if not lines:
        raise TraceError(f"{name}: the file is empty; write a whole number of milliseconds a line")
    values = np.empty(len(lines), dtype=np.int64)
    before = 0
    for number, line in enumerate(lines, start=1):
        # As Mahimahi and the path read it: digits and nothing else.
        if not (line.isascii() and line.isdigit()):
            shown = f"`{line[:40]}`" if line else "an empty line"
            raise TraceError(
                f"{name}:{number}: {shown} is not a whole number of milliseconds; write one a line"
            )
        # The length first: Python refuses to read numbers of thousands of digits.
        value = int(line) if len(line) <= DIGITS_MAX else MS_MAX + 1
        if value > MS_MAX:
            raise TraceError(
                f"{name}:{number}: {line[:40]} ms is beyond 30 days; write milliseconds"
            )
        if value < before:
            raise TraceError(
                f"{name}:{number}: {value} comes after {before}; put the lines in ascending order"
            )
        values[number - 1] = before = value
    if before == 0:
        raise TraceError(
            f"{name}:{len(lines)}: the trace has no duration; its last line must be above 0"
        )
    return values


def format_mahimahi(opportunities_ms: NDArray[np.int64]) -> str:
    """The text of a trace."""
    return "\n".join(map(str, opportunities_ms.tolist())) + "\n"


def mean_rate_bit_s(opportunities_ms: NDArray[np.int64]) -> int:
    """What the path takes for the trace's rate: all of its opportunities over its length."""
    return int(len(opportunities_ms) * OPPORTUNITY_BITS * 1000 // int(opportunities_ms[-1]))
