"""Read and write Mahimahi's format: one opportunity per line, in whole milliseconds, in order.

Write numbers as lines of text with numpy, ten million per second.
"""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.number_columns import first_line, lines_without_ends, numbers
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.lab_tables import LIMITS

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
        quoted = f"`{excerpt(line)[:40]}`" if line else "an empty line"
        remedy = "write one per line" if line else "remove it"
        raise TraceError(
            f"{name}:{wrong + 1}: {quoted} is not a whole number of milliseconds; {remedy}"
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
        quoted = content.split(b"\n", at + 1)[at][:40].decode()
        raise TraceError(f"{name}:{at + 1}: {quoted} ms is beyond 30 days; write milliseconds")
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


_Number = TypeVar("_Number", bound=np.generic)

_PIECE = 1 << 18
"""Lines per piece: its memory fits the processor's cache and bounds the total."""
_GROUP = 10_000
_DIGITS = (
    (np.arange(_GROUP)[:, None] // np.array([1000, 100, 10, 1]) % 10 + ord("0"))
    .astype(np.uint8)
    .view(np.uint32)
    .ravel()
)
"""Four digits of each number below 10,000, in memory order."""
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
_MICRO_DIGITS = 6
_NEAR_HALF = 1e-3
"""Distance from a half below which values are rounded exactly: far above the error of a product
below 2^40, which is at most 2^-13.
"""


def whole_lines(values: NDArray[np.int64]) -> bytes:
    """Return each value, none of them negative, on its own line."""
    return b"".join(_digits(piece, 0) for piece in _pieces(values))


def micro_lines(values: NDArray[np.float64]) -> bytes:
    """Return each value, from 0 to 10^6, on its own line with six decimals, like `:.6f`.

    There are no exponents, which the path does not parse.
    """
    return b"".join(_digits(_micro(piece), _MICRO_DIGITS) for piece in _pieces(values))


def _pieces(values: NDArray[_Number]) -> Iterator[NDArray[_Number]]:
    return (values[start : start + _PIECE] for start in range(0, len(values), _PIECE))


def _micro(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return millionths, rounded half up by the value's exact decimal digits."""
    scaled = values * 1e6
    rounded = np.rint(scaled).astype(np.int64)
    # Near a half the rounding error of the product could decide.
    for at in np.flatnonzero(np.abs(np.abs(scaled - rounded) - 0.5) < _NEAR_HALF).tolist():
        rounded[at] = int(f"{values[at]:.6f}".replace(".", ""))
    return rounded


def _digits(values: NDArray[np.int64], decimals: int) -> bytes:
    """Return the values' digits as lines, with a point before the last `decimals` digits."""
    width = max(len(str(values.max())), decimals + 1)
    groups = -(-width // 4)
    digits = np.empty((len(values), groups), np.uint32)
    rest = values
    for group in range(groups - 1, -1, -1):
        above = rest // _GROUP
        digits[:, group] = _DIGITS[rest - above * _GROUP]
        rest = above
    signs = digits.view(np.uint8)[:, 4 * groups - width :]
    whole = width - decimals
    lines = np.empty((len(values), width + bool(decimals) + 1), np.uint8)
    lines[:, :whole] = signs[:, :whole]
    if decimals:
        lines[:, whole] = ord(".")
        lines[:, whole + 1 : -1] = signs[:, whole:]
    lines[:, -1] = ord("\n")
    shortest = max(len(str(values.min())), decimals + 1)
    if shortest == width:
        return lines.tobytes()
    count = np.maximum(np.searchsorted(_POWERS, values, side="right") + 1, decimals + 1)
    return lines[np.arange(lines.shape[1]) >= (width - count)[:, None]].tobytes()
