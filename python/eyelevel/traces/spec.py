"""Settings of made traces, light to import: a network's identity without the arithmetic."""

from dataclasses import dataclass

from eyelevel.settings import Settings

SYNTH_MODELS = ("cellular", "satellite", "wifi")

SYNTH_VERSION = 1
"""Raised whenever a model gives other numbers for the same settings; a test pins what it gives."""


@dataclass(frozen=True)
class SynthSpec(Settings):
    """A made trace: one of SYNTH_MODELS, its mean rate in bit/s, its length and its seed."""

    model: str
    rate_bit_s_mean: int
    duration_s: int
    seed: int
    version: int = SYNTH_VERSION
