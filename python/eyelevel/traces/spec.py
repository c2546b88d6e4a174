"""Settings of made traces, light to import: a network's identity without the arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SYNTH_MODELS = ("cellular", "satellite", "wifi")

SYNTH_VERSION = 1
"""Raised whenever a model gives other numbers for the same settings; a test pins what it gives."""


@dataclass(frozen=True)
class SynthSpec:
    """A made trace: one of SYNTH_MODELS, its mean rate in bit/s, its length and its seed."""

    model: str
    rate_bit_s_mean: int
    duration_s: int
    seed: int
    version: int = SYNTH_VERSION


def synthesise(spec: SynthSpec) -> NDArray[np.int64]:
    """The opportunities in milliseconds; the same for the same settings on every machine.

    Raises TraceError for settings that make no sense.
    """
    # numpy takes longer to import than a path takes to start; most paths need no made trace.
    from eyelevel.traces.synth import make

    return make(spec)
