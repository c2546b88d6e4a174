"""A mixed model over sites: what the gain would be on other sites like these."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.stats.estimate import Estimate, undetermined

CONFIDENCE = 0.95
RATIOS = (1e-6, 1e8)  # of the variance between sites to that within: beyond is none, or all
RATIOS_TRIED = 141  # ten a decade: a likelihood with two peaks that close has one answer
SITES_MIN = 5  # a spread between sites that is estimated from fewer means nothing

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SitesModel:
    """The typical gain over sites as a ratio less one, and how much sites and runs scatter.

    The deviations are of the logarithm of the ratio: 0.1 is about 10 %.
    """

    gain: Estimate
    deviation_sites: float | None = None
    deviation_runs: float | None = None


def gain_over_sites(
    pairs: Mapping[str, tuple[ArrayLike, ArrayLike]], confidence: float = CONFIDENCE
) -> SitesModel:
    """log(value / reference) of each block = typical + site + run, sites and runs random.

    `pairs`: runs of a stack and of the reference in pairs, by site. Fitted by restricted maximum
    likelihood (Patterson and Thompson, Biometrika 58, 1971), profiled over the ratio of both
    variances; statsmodels' MixedLM gives a mean that is none of the data's where sites do not
    differ, and calls it converged. Interval and p are from Student's t with one degree of freedom
    less than there are sites, exact for balanced data (Kackar and Harville's error, JASA 79, 1984,
    ignores that variances are estimated, which t covers). Assumes that the sites are a random
    sample of those one asks about, and that effects of sites and runs are about normal on the log
    scale. Unlike the mean gain over these very sites, its interval covers other sites. Undetermined
    below five sites, with a timeout and without spread.
    R: `lme4::lmer(log_ratio ~ 1 + (1 | site))`.
    """
    ratios = []
    for site, (values, reference) in pairs.items():
        x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
        if x.shape != r.shape or x.ndim != 1:
            raise ValueError(f"runs come in pairs: got shapes {x.shape} and {r.shape}")
        if not (np.isfinite(x).all() and np.isfinite(r).all()):
            return SitesModel(undetermined("a load timed out, so it has no ratio", len(pairs)))
        if len(x) == 0 or (x <= 0).any() or (r <= 0).any():
            return SitesModel(undetermined(f"{site} has no ratios", len(pairs)))
        ratios.append(np.log(x / r))
    if len(pairs) < SITES_MIN:
        return SitesModel(undetermined(f"fewer than {SITES_MIN} sites", len(pairs)))
    if all(len(each) < 2 for each in ratios):
        return SitesModel(undetermined("one block shows no spread", len(pairs)))
    joined = np.concatenate(ratios)
    if np.ptp(joined) == 0:
        value = math.expm1(joined[0])
        return SitesModel(undetermined("the runs show no spread at all", len(pairs), value))
    return _fitted(ratios, confidence)


def _fitted(ratios: Sequence[Floats], confidence: float) -> SitesModel:
    runs = np.array([len(each) for each in ratios])
    means = np.array([each.mean() for each in ratios])
    scatter = float(sum(((each - each.mean()) ** 2).sum() for each in ratios))
    freedom = int(runs.sum()) - 1

    def profile(between: Floats) -> tuple[Floats, Floats, Floats]:
        """Mean, variance of runs, and twice the negative likelihood, by between / within."""
        spread = 1 + np.multiply.outer(between, runs)
        weights = runs / spread
        every = weights.sum(axis=-1)
        mean = (weights * means).sum(axis=-1) / every
        squares = scatter + (weights * (means - mean[..., None]) ** 2).sum(axis=-1)
        loss = freedom * np.log(squares) + np.log(spread).sum(axis=-1) + np.log(every)
        return mean, squares / freedom, loss

    tried = np.concatenate([[0.0], np.geomspace(*RATIOS, RATIOS_TRIED)])
    losses = profile(tried)[2]
    at = int(losses.argmin())
    ratio = float(tried[at])
    if at > 0:
        # A ratio of nothing is its own answer; between the others the least loss is sought.
        ends = np.log(tried[[max(1, at - 1), min(len(tried) - 1, at + 1)]])
        ratio = math.exp(
            scipy.optimize.minimize_scalar(
                lambda on_log: float(profile(np.exp(np.array([on_log])))[2][0]),
                bounds=tuple(ends),
                method="bounded",
                options={"xatol": 1e-9},
            ).x
        )
    (typical,), (within,), _ = profile(np.array([ratio]))
    between = ratio * within
    # Generalised least squares from the variances.
    error = float((runs / (within + runs * between)).sum() ** -0.5)
    return _model(float(typical), error, (between, float(within)), len(runs), confidence)


def _model(
    typical: float, error: float, variances: tuple[float, float], count: int, confidence: float
) -> SitesModel:
    freedom = count - 1
    reach = float(scipy.special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = 2 * float(scipy.special.stdtr(freedom, -abs(typical) / error))
    low, high = math.expm1(typical - reach), math.expm1(typical + reach)
    gain = Estimate(math.expm1(typical), low, high, p, None, freedom, count)
    return SitesModel(gain, math.sqrt(variances[0]), math.sqrt(variances[1]))
