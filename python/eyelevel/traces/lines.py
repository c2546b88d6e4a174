"""Numbers as lines of text, ten million in a second: by numpy, piece by piece."""

from collections.abc import Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_Number = TypeVar("_Number", bound=np.generic)

_PIECE = 1 << 18
"""Lines at a time: what they need fits into the processor's cache, and memory stays bounded."""
_GROUP = 10_000
_DIGITS = (
    (np.arange(_GROUP)[:, None] // np.array([1000, 100, 10, 1]) % 10 + ord("0"))
    .astype(np.uint8)
    .view(np.uint32)
    .ravel()
)
"""The four digits of each number below 10,000, as they lie in memory."""
_POWERS = 10 ** np.arange(1, 19, dtype=np.int64)
_MICRO_DIGITS = 6
_NEAR_HALF = 1e-3
"""Far above the error of a product below 2^40 in binary, which is at most 2^-13."""


def whole_lines(values: NDArray[np.int64]) -> bytes:
    """Return each value, none of them below 0, on a line of its own."""
    return b"".join(_digits(piece, 0) for piece in _pieces(values))


def micro_lines(values: NDArray[np.float64]) -> bytes:
    """Return each value, from 0 to 10^6, with six decimals on a line of its own, as `:.6f` writes
    it.

    Without exponents, which the path does not read.
    """
    return b"".join(_digits(_micro(piece), _MICRO_DIGITS) for piece in _pieces(values))


def _pieces(values: NDArray[_Number]) -> Iterator[NDArray[_Number]]:
    return (values[start : start + _PIECE] for start in range(0, len(values), _PIECE))


def _micro(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return millionths, rounded as the decimal value of each is, a half of them by what lies
    behind."""
    scaled = values * 1e6
    rounded = np.rint(scaled).astype(np.int64)
    # Near a half the product's own rounding could decide.
    for at in np.flatnonzero(np.abs(np.abs(scaled - rounded) - 0.5) < _NEAR_HALF).tolist():
        rounded[at] = int(f"{values[at]:.6f}".replace(".", ""))
    return rounded


def _digits(values: NDArray[np.int64], decimals: int) -> bytes:
    """Return lines of the values' digits, with a point before the last `decimals` of them."""
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
