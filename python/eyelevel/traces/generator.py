"""The pinned generator of made traces.

Only the raw 64-bit output of PCG64 is used, which numpy promises to keep (NEP 19); its
distributions may change from version to version and are therefore made here.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray


class Generator:
    """Random numbers that belong to a seed and a name."""

    def __init__(self, seed: int, name: str) -> None:
        """One independent stream for each name."""
        digest = hashlib.sha256(f"{seed}\x1f{name}".encode()).digest()
        self._bits = np.random.PCG64(int.from_bytes(digest[:16], "big"))

    def uniforms(self, count: int) -> NDArray[np.float64]:
        """From 0 (included) to 1 (excluded), with 53 random bits."""
        raw = np.asarray(self._bits.random_raw(count), dtype=np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def uniform(self) -> float:
        """One of `uniforms`."""
        return float(self.uniforms(1)[0])

    def normals(self, count: int) -> NDArray[np.float64]:
        """Standard normal, by Box and Muller 1958."""
        first, second = self.uniforms(count), self.uniforms(count)
        return np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)

    def exponential(self, mean: float) -> float:
        """Exponentially distributed."""
        return float(-mean * np.log1p(-self.uniform()))
