"""A mixed model over sites: what the gain would be on other sites like these."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.stats.estimate import Estimate, undetermined

CONFIDENCE = 0.95
SITES_MIN = 5  # a spread between sites that is estimated from fewer means nothing


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
    likelihood (statsmodels' MixedLM); interval and p from Student's t with one degree of freedom
    less than there are sites, exact for balanced data (Kackar and Harville's error, JASA 79, 1984,
    ignores that variances are estimated, which t covers). Assumes that the sites are a random
    sample of those one asks about, and that effects of sites and runs are about normal on the log
    scale. Unlike the mean gain over these very sites, its interval covers other sites. Undetermined
    below five sites, with a timeout, or where the fit does not converge.
    R: `lme4::lmer(log_ratio ~ 1 + (1 | site))`.
    """
    ratios, sites = [], []
    for site, (values, reference) in pairs.items():
        x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
        if x.shape != r.shape or x.ndim != 1:
            raise ValueError(f"runs come in pairs: got shapes {x.shape} and {r.shape}")
        if not (np.isfinite(x).all() and np.isfinite(r).all()):
            return SitesModel(undetermined("a load timed out, so it has no ratio", len(pairs)))
        if len(x) == 0 or (x <= 0).any() or (r <= 0).any():
            return SitesModel(undetermined(f"{site} has no ratios", len(pairs)))
        ratios.append(np.log(x / r))
        sites += [site] * len(x)
    if len(pairs) < SITES_MIN:
        return SitesModel(undetermined(f"fewer than {SITES_MIN} sites", len(pairs)))
    if all(len(each) < 2 for each in ratios):
        return SitesModel(undetermined("one block shows no spread", len(pairs)))
    joined = np.concatenate(ratios)
    if np.ptp(joined) == 0:
        value = math.expm1(joined[0])
        return SitesModel(undetermined("the runs show no spread at all", len(pairs), value))
    return _fitted(joined, np.array(sites), len(pairs), confidence)


def _fitted(ratios: np.ndarray, sites: np.ndarray, count: int, confidence: float) -> SitesModel:
    # Imported where it is used: it takes longer than all else that a command imports.
    from statsmodels.regression.mixed_linear_model import MixedLM
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    scale = float(ratios.std())  # the fit's tolerances are absolute
    with warnings.catch_warnings():
        # A variance between sites of about zero is an answer, not a failure.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        model = MixedLM(ratios / scale, np.ones((len(ratios), 1)), sites)
        fit = model.fit(reml=True, method=["lbfgs", "powell"])
    between, within = float(fit.cov_re[0, 0]), float(fit.scale)
    typical = float(fit.params[0]) * scale
    # The error by generalised least squares from the variances: the fit's own is lost where the
    # variance between sites is zero.
    runs = np.unique(sites, return_counts=True)[1]
    error = float((runs / (within + runs * between)).sum() ** -0.5) * scale
    if not (fit.converged and math.isfinite(error) and error > 0):
        return SitesModel(undetermined("the model's fit did not converge", count))
    freedom = count - 1
    reach = float(scipy.special.stdtrit(freedom, 0.5 + confidence / 2)) * error
    p = 2 * float(scipy.special.stdtr(freedom, -abs(typical) / error))
    low, high = math.expm1(typical - reach), math.expm1(typical + reach)
    gain = Estimate(math.expm1(typical), low, high, p, None, freedom, count)
    return SitesModel(gain, math.sqrt(between) * scale, math.sqrt(within) * scale)
