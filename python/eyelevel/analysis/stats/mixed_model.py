"""A mixed model over sites: the expected gain on other sites like these."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    as_pairs,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.paired_gains import log_to_share

RATIOS = (1e-6, 1e8)  # variance ratios, between sites over within; beyond: 0 or infinite
RATIOS_TRIED = 141  # ten per decade: closer peaks of the likelihood count as one
SITES_MIN = 5  # a spread between sites that is estimated from fewer is meaningless


@dataclass(frozen=True)
class SitesModel:
    """The typical gain over sites as a ratio less one, and the scatter of sites and runs.

    The deviations are of the logarithm of the ratio: 0.1 is about 10 %.
    """

    gain: Estimate
    deviation_sites: float | None = None
    deviation_runs: float | None = None


def gain_over_sites(
    pairs: Mapping[str, tuple[ArrayLike, ArrayLike]], confidence: float = CONFIDENCE
) -> SitesModel:
    """Fit log(value / reference) of each block = typical + site + run, sites and runs random.

    `pairs`: runs of a stack and of the reference in pairs, by site. Fitted by restricted maximum
    likelihood (Patterson and Thompson, Biometrika 58, 1971), profiled over the ratio of both
    variances; statsmodels' MixedLM is no alternative, since without a variance between sites it
    returns a wrong mean as converged. Interval and p are from Student's t with one degree of
    freedom less than there are sites, exact for balanced data (Kackar and Harville's error, JASA
    79, 1984, ignores that variances are estimated, which t covers). Assumes that the sites are a
    random sample of the population, and that effects of sites and runs are about normal on the log
    scale. Unlike that of the mean gain over the study's own sites, its interval covers other sites.
    Undetermined below five sites, with a timeout and without spread. R: `lme4::lmer(log_ratio ~ 1 +
    (1 | site))`.
    """
    ratios = []
    for site, (values, reference) in pairs.items():
        x, r = as_pairs(values, reference)
        if not (np.isfinite(x).all() and np.isfinite(r).all()):
            return SitesModel(undetermined("a load timed out, so it has no ratio", len(pairs)))
        if len(x) == 0 or (x <= 0).any() or (r <= 0).any():
            return SitesModel(undetermined(f"{site} has no ratios", len(pairs)))
        ratios.append(np.log(x / r))
    if len(pairs) < SITES_MIN:
        return SitesModel(undetermined(f"fewer than {SITES_MIN} sites", len(pairs)))
    if all(len(of_site) < 2 for of_site in ratios):
        return SitesModel(undetermined("one block shows no spread", len(pairs)))
    joined = np.concatenate(ratios)
    if np.ptp(joined) == 0:
        value = math.expm1(joined[0])
        return SitesModel(undetermined("the runs show no spread", len(pairs), value))
    return _fit(ratios, confidence)


def _fit(ratios: Sequence[Floats], confidence: float) -> SitesModel:
    runs = np.array([len(of_site) for of_site in ratios])
    means = np.array([of_site.mean() for of_site in ratios])
    scatter = float(sum(((of_site - of_site.mean()) ** 2).sum() for of_site in ratios))
    freedom = int(runs.sum()) - 1

    def profile(between: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean, variance of runs and -2 log likelihood, by the ratio of variances."""
        spread = 1 + np.multiply.outer(between, runs)
        weights = runs / spread
        total = weights.sum(axis=-1)
        mean = (weights * means).sum(axis=-1) / total
        squares = scatter + (weights * (means - mean[..., None]) ** 2).sum(axis=-1)
        loss = freedom * np.log(squares) + np.log(spread).sum(axis=-1) + np.log(total)
        return mean, squares / freedom, loss

    candidates = np.concatenate([[0.0], np.geomspace(*RATIOS, RATIOS_TRIED)])
    losses = profile(candidates)[2]
    best = int(losses.argmin())
    ratio = float(candidates[best])
    if best > 0:
        # A ratio of 0 is a solution of its own; for others the minimum is between its neighbours.
        ends = np.log(candidates[[max(1, best - 1), min(len(candidates) - 1, best + 1)]])
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
    # Generalised least squares with these variances.
    error = float((runs / (within + runs * between)).sum() ** -0.5)
    return _model(float(typical), error, (between, float(within)), len(runs), confidence)


def _model(
    typical: float, error: float, variances: tuple[float, float], count: int, confidence: float
) -> SitesModel:
    log_gain = t_estimate(typical, error, count - 1, count, confidence)
    assert log_gain.low is not None and log_gain.high is not None
    low, high = log_to_share(log_gain.low), log_to_share(log_gain.high)
    gain = replace(log_gain, value=math.expm1(typical), low=low, high=high, standard_error=None)
    return SitesModel(gain, math.sqrt(variances[0]), math.sqrt(variances[1]))
