"""Settings of synthetic traces, cheap to import: a network's identity without the arithmetic."""

from dataclasses import dataclass

from eyelevel.base.settings import Settings

SYNTH_MODELS = ("cellular", "satellite", "wifi")

SYNTH_VERSION = 1
"""Version of the generators, raised whenever a model returns other numbers for the same
settings; a test pins them.
"""


@dataclass(frozen=True)
class SynthSpec(Settings):
    """A synthetic trace: one of SYNTH_MODELS, its mean rate in bit/s, its length and its seed."""

    model: str
    rate_bit_s_mean: int
    duration_s: int
    seed: int
    version: int = SYNTH_VERSION
