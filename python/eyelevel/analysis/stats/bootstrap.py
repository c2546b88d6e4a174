"""Bootstrap intervals of the mean difference within blocks."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    are_too_few,
    as_pairs,
    undetermined,
)

RESAMPLES = 9_999
PAIRS_MIN = 10  # resamples of fewer pairs repeat themselves and cover far too little


def bootstrap_difference(
    values: ArrayLike, reference: ArrayLike, seed: int = 1, confidence: float = CONFIDENCE
) -> Estimate:
    """Return the mean of values - reference over blocks with its bootstrap interval, in their unit.

    Pairs are drawn with replacement 9,999 times with the pinned PCG64 stream of `seed`; bias
    corrected and accelerated (Efron, JASA 82, 1987). Assumes pairs that are independent and
    identically distributed with a mean; no shape. Undetermined below ten pairs, with a timeout and
    without spread. R: `boot::boot.ci(type = "bca")`, up to resampling error.
    """
    x, r = as_pairs(values, reference)
    n = len(x)
    if n == 0:
        return undetermined("no complete block is left")
    if not (np.isfinite(x).all() and np.isfinite(r).all()):
        return undetermined("a load timed out, so there is no mean", n)
    differences = x - r
    value = float(differences.mean())
    if n < PAIRS_MIN:
        return undetermined(f"{are_too_few(n)} to resample", n, value)
    if np.ptp(differences) == 0:
        return undetermined("the differences show no spread", n, value)
    resampled = scipy.stats.bootstrap(
        (differences,),
        np.mean,
        n_resamples=RESAMPLES,
        confidence_level=confidence,
        method="BCa",
        rng=np.random.Generator(np.random.PCG64(seed)),
    )
    bounds = resampled.confidence_interval
    error = float(resampled.standard_error)
    return Estimate(value, float(bounds.low), float(bounds.high), standard_error=error, n=n)
