"""Generate synthetic traces: a model gives the rate over time, and opportunities follow it."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.plan.traces.mahimahi import OPPORTUNITIES_MAX, OPPORTUNITY_BITS
from eyelevel.plan.traces.models import Generator, cellular, satellite, wifi
from eyelevel.plan.traces.spec import SYNTH_MODELS, SYNTH_VERSION, SynthSpec

DURATION_S_MAX = 24 * 3600

Course = Callable[[Generator, int], NDArray[np.float64]]

# A model's rate (relative, per millisecond), and whether its packets follow a Poisson
# process with this rate or are spaced evenly.
_COURSES: dict[str, tuple[Course, bool]] = {
    "cellular": (cellular, True),
    "satellite": (satellite, False),
    "wifi": (wifi, False),
}


def synthesise(spec: SynthSpec) -> NDArray[np.int64]:
    """Return the opportunities in milliseconds; equal settings give equal numbers on every machine.

    The mean is `rate_bit_s_mean` to half an opportunity. Raises `TraceError` for invalid settings.
    """
    course, at_random = _check(spec)
    random = Generator(spec.seed, spec.model)
    duration_ms = spec.duration_s * 1000
    intensity = course(random, duration_ms)
    total = spec.rate_bit_s_mean * spec.duration_s / OPPORTUNITY_BITS
    count = round(total)
    if not 1 <= count <= OPPORTUNITIES_MAX or not intensity.sum() > 0:
        raise TraceError(
            f"a made trace would have {count} opportunities; choose a rate and a duration that "
            f"give 1 to {OPPORTUNITIES_MAX}"
        )
    gathered = np.concatenate(([0.0], np.cumsum(intensity)))
    if at_random:
        # Given their number, the events of a Poisson process are uniformly distributed.
        wanted = np.sort(1.0 - random.uniforms(count)) * gathered[-1]
    else:
        wanted = np.arange(1, count + 1) / count * gathered[-1]
    # The millisecond at whose end the bytes have accumulated.
    values = np.searchsorted(gathered, wanted * (1 - 1e-12), side="left").astype(np.int64)
    opportunities_ms: NDArray[np.int64] = np.clip(values, 1, duration_ms)
    opportunities_ms[-1] = duration_ms
    return opportunities_ms


def _check(spec: SynthSpec) -> tuple[Course, bool]:
    if spec.model not in _COURSES:
        known = ", ".join(SYNTH_MODELS)
        raise TraceError(f"there is no model `{spec.model}` of a trace; known: {known}")
    if spec.version != SYNTH_VERSION:
        raise TraceError(
            f"the model `{spec.model}` of version {spec.version} is not the one in this version "
            f"({SYNTH_VERSION}); use the version of eyelevel that made the record"
        )
    if not 1 <= spec.duration_s <= DURATION_S_MAX:
        raise TraceError(f"a made trace of {spec.duration_s} s; choose 1 s to {DURATION_S_MAX} s")
    return _COURSES[spec.model]
