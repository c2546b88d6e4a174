"""Write numbers as lines of text with numpy, ten million per second."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

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
