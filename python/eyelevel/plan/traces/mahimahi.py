"""Read and write Mahimahi's format: one opportunity per line, in whole milliseconds, in order."""

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.number_columns import first_line, lines_without_ends, numbers
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.lab_tables import LIMITS
from eyelevel.plan.traces.lines import whole_lines

OPPORTUNITY_BYTES = 1500
OPPORTUNITY_BITS = OPPORTUNITY_BYTES * 8

OPPORTUNITIES_MAX = int(LIMITS["opportunities"].max)
MS_MAX = int(LIMITS["opportunity_ms"].max)  # 30 days: a later opportunity has the wrong unit


def parse_mahimahi(text: str, name: str) -> NDArray[np.int64]:
    """Return the opportunities listed in `text`; `name` is the file's name for messages.

    Raises `TraceError` for a line that is not a whole number, is less than the one before or beyond
    30 days, and for a trace without duration: the path refuses the same, with the same remedies.
    """
    if not text:
        raise TraceError(
            f"{name}: the file is empty; write one whole number of milliseconds per line"
        )
    if text.startswith("\ufeff"):
        # The path accepts none, and whatever it refuses is refused here.
        raise TraceError(f"{name}:1: a byte order mark; save the file as UTF-8 without one")
    content = lines_without_ends(text.encode("utf-8", "surrogatepass"))
    if b"\r" in content and b"\n" not in content:
        raise TraceError(f"{name}: its lines end in CR alone; save it with LF or CR LF")
    # Like Mahimahi and the path: digits only.
    wrong = -1
    if content.translate(None, b"0123456789\n") or _has_empty_line(content):
        wrong = first_line(content, bytes.isdigit)
        before = content.split(b"\n", wrong)
        content = b"\n".join(before[:wrong])
    if content.count(b"\n") >= OPPORTUNITIES_MAX:
        raise TraceError(f"{name}: more than {OPPORTUNITIES_MAX} lines; cut the recording")
    values = numbers(content, "\n", np.int64).astype(np.int64)
    _check_order(values, content, name)
    if wrong >= 0:
        line = before[wrong].partition(b"\n")[0].decode("utf-8", "replace")
        if (plain := line.strip()).isdecimal() and plain.isascii():
            fault = f"a blank beside `{excerpt(plain)[:40]}`"
            raise TraceError(f"{name}:{wrong + 1}: {fault}; remove it, each line is a whole number")
        shown = f"`{excerpt(line)[:40]}`" if line else "an empty line"
        raise TraceError(
            f"{name}:{wrong + 1}: {shown} is not a whole number of milliseconds; write one per line"
        )
    if values[-1] == 0:
        raise TraceError(
            f"{name}:{len(values)}: the trace has no duration; write a last line above 0"
        )
    return values


def _has_empty_line(content: bytes) -> bool:
    return not content or content[:1] == b"\n" or content[-1:] == b"\n" or b"\n\n" in content


def _check_order(values: NDArray[np.int64], content: bytes, name: str) -> None:
    """Raise `TraceError` for the first value beyond 30 days or less than the one before."""
    wrong = values > MS_MAX
    wrong[1:] |= values[1:] < values[:-1]
    if not wrong.any():
        return
    at = int(np.argmax(wrong))
    if values[at] > MS_MAX:
        shown = content.split(b"\n", at + 1)[at][:40].decode()
        raise TraceError(f"{name}:{at + 1}: {shown} ms is beyond 30 days; write milliseconds")
    raise TraceError(
        f"{name}:{at + 1}: {values[at]} comes after {values[at - 1]}; put the lines in ascending "
        "order"
    )


def format_mahimahi(opportunities_ms: NDArray[np.int64]) -> str:
    """Return the text of a trace."""
    return whole_lines(opportunities_ms).decode("ascii")


def mean_rate_bit_s(opportunities_ms: NDArray[np.int64]) -> int:
    """Return the trace's mean rate as the path computes it: all opportunities over its length."""
    return int(len(opportunities_ms) * OPPORTUNITY_BITS * 1000 // int(opportunities_ms[-1]))
