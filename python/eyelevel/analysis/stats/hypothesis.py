"""Tests of `no difference`, and the test that a difference does not matter.

One-way analysis of variance, as Wolsing et al. 2019 (section 4) did it (`anova_of_two`, equal
variances, two stacks' runs) and Welch's, for variances that differ and any number of groups;
Games-Howell, which pairs of stacks differ in their means, all pairs being one family;
Kruskal-Wallis, Mann-Whitney with Cliff's delta, and Cochran's Q for an event in columns of a table.

The studentised range is the law of Tukey's q, which bounds all pairs of means at once.
`scipy.stats.studentized_range` integrates adaptively: 0.2 s for the p value and the interval of one
pair, and a report has hundreds. Here both integrals are trapezoidal sums, whose error falls
exponentially for integrands that are smooth and die away on both sides (Trefethen and Weideman,
SIAM Review 56, 2014). A test holds them to scipy's.

Correcting for many tests is `eyelevel.analysis.stats.families`; which comparisons are tested is
decided in `eyelevel.analysis.gains`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import CONFIDENCE, UNDETERMINED, Estimate, Floats, sum_freedom

RUNS_MIN = 2  # fewer show no spread


@dataclass(frozen=True)
class DifferenceTest:
    """A test statistic and its p value; both None, with the reason, if there is no test."""

    statistic: float | None = None
    p: float | None = None
    degrees_of_freedom: tuple[float, ...] = ()
    reason: str = ""

    @property
    def determined(self) -> bool:
        """Whether there is a p value."""
        return self.p is not None


def test_result(
    statistic: float, p: float, degrees_of_freedom: tuple[float, ...] = ()
) -> DifferenceTest:
    """Return a test's result; undetermined if a library returned not-a-number."""
    if not (math.isfinite(statistic) and math.isfinite(p)):
        return DifferenceTest(reason="the test gave no number")
    return DifferenceTest(float(statistic), float(p), degrees_of_freedom)


def as_groups(groups: Sequence[ArrayLike]) -> list[Floats]:
    """Return the groups as arrays. Raises ValueError for missing values: callers drop them."""
    arrays = [np.asarray(group, dtype=float) for group in groups]
    if any(np.isnan(group).any() for group in arrays):
        raise ValueError("drop runs without a value first")
    return arrays


def why_untestable(groups: list[Floats], means: bool) -> str:
    """Return why these groups cannot be compared, or ""; `means`: by a test of means."""
    if len(groups) < 2:
        return "fewer than two groups"
    if any(len(group) < RUNS_MIN for group in groups):
        return "fewer than two runs"
    if means and not all(np.isfinite(group).all() for group in groups):
        return "a load timed out, so there is no mean"
    return ""


def equivalence(estimate: Estimate, low: float, high: float) -> DifferenceTest:
    """Test by two one-sided t tests that an effect lies between `low` and `high`, in its unit.

    The p value is the larger of both (Schuirmann, J. Pharmacokinetics and Biopharmaceutics 15,
    1987); p <= 0.05 exactly if the 90 % interval lies inside. The assumptions are those of the
    estimate's own t interval. Undetermined if the estimate has no standard error. The statistic is
    the t of the nearer bound. R: `TOSTER::tsum_TOST` on the same estimate and error.
    """
    error, freedom = estimate.standard_error, estimate.degrees_of_freedom
    if estimate.value is None or error is None or freedom is None:
        return DifferenceTest(reason=estimate.reason or "there is no standard error")
    t = min(estimate.value - low, high - estimate.value) / error
    return DifferenceTest(float(t), float(scipy.special.stdtr(freedom, -t)), (float(freedom),))


def gain_equivalence(gain: Estimate, smallest_effect: float) -> DifferenceTest:
    """Test that a geometric mean's gain lies within +-`smallest_effect`, as a share.

    The test is on the logarithm, as is the gain's interval
    (`eyelevel.analysis.stats.paired_gains.geometric_gain`): the 90 % one lies within the bounds
    exactly if p <= 0.05.
    """
    if smallest_effect <= 0:
        raise ValueError("the smallest effect of interest must be above 0")
    if gain.value is None or gain.standard_error is None:
        return equivalence(gain, 0.0, 0.0)
    on_log = Estimate(
        math.log1p(gain.value),
        standard_error=gain.standard_error / (1 + gain.value),
        degrees_of_freedom=gain.degrees_of_freedom,
    )
    low = math.log1p(-smallest_effect) if smallest_effect < 1 else -math.inf
    return equivalence(on_log, low, math.log1p(smallest_effect))


SIGNIFICANCE_LEVEL = 0.01  # as in the paper

Verdict = Literal["lower", "higher", "no significant difference", "undetermined"]
"""The verdict on the mean. It never calls a stack faster or slower: with many sites tested this
way, some differ by chance."""


@dataclass(frozen=True)
class Anova:
    """The F statistic, p value and verdict; without a test both numbers are None, with the
    reason."""

    verdict: Verdict
    f: float | None = None
    p: float | None = None
    reason: str = ""


def anova_of_two(
    values: ArrayLike, reference: ArrayLike, significance_level: float = SIGNIFICANCE_LEVEL
) -> Anova:
    """Test whether the mean of `values` differs from that of `reference`.

    Assumes runs that are independent, about normal and of equal variance; it does not use that they
    come in pairs (the published test does not). Timeouts (infinity) leave no mean to compare.
    """
    x, r = np.asarray(values, dtype=float), np.asarray(reference, dtype=float)
    if len(x) < 2 or len(r) < 2:
        return Anova("undetermined", reason="fewer than two runs")
    if not (np.isfinite(x).all() and np.isfinite(r).all()):
        return Anova("undetermined", reason="a load timed out, so there is no mean")
    if np.ptp(x) == 0 and np.ptp(r) == 0:
        return Anova("undetermined", reason="the runs show no spread")
    f, p = _f_of_two(x, r)
    if not np.isfinite(p):
        return Anova("undetermined", reason="the test gave no number")
    if p >= significance_level:
        return Anova("no significant difference", f, p)
    return Anova("lower" if x.mean() < r.mean() else "higher", f, p)


def welch_anova(groups: Sequence[ArrayLike]) -> DifferenceTest:
    """Test for equal means of two or more groups of runs (Welch, Biometrika 38, 1951).

    Assumes runs that are independent and about normal within a group; variances may differ. It does
    not use that runs come in blocks. Undetermined with a timeout or if a group has no spread, which
    leaves its weight unknown. R: `oneway.test(value ~ group)`.
    """
    # Imported here: it takes longer than all other imports of a command.
    from statsmodels.stats.oneway import anova_oneway

    runs = as_groups(list(groups))
    if reason := why_untestable(runs, means=True):
        return DifferenceTest(reason=reason)
    if any(np.ptp(group) == 0 for group in runs):
        return DifferenceTest(reason="the runs of a stack show no spread")
    result = anova_oneway(runs, use_var="unequal", welch_correction=True)
    freedom = (float(result.df_num), float(result.df_denom))
    return test_result(float(result.statistic), float(result.pvalue), freedom)


def _f_of_two(x: Floats, r: Floats) -> tuple[float, float]:
    """Return F and p as `scipy.stats.f_oneway` does, in less than its 0.8 ms per call.

    A study has 28,000 comparisons.
    """
    n, m = len(x), len(r)
    between = (x.mean() - r.mean()) ** 2 * n * m / (n + m)
    within = (n * x.var() + m * r.var()) / (n + m - 2)
    f = float(between / within) if within > 0 else float("inf")
    return f, float(scipy.special.fdtrc(1, n + m - 2, f))


@dataclass(frozen=True)
class PairDifference:
    """mean(first) - mean(second) with its simultaneous interval and p; None with the reason."""

    first: str
    second: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    reason: str = ""


def games_howell(
    groups: Mapping[str, ArrayLike], confidence: float = CONFIDENCE, against: str | None = None
) -> list[PairDifference]:
    """Return every pair of groups, in the order given (Games and Howell, J. Educ. Stat. 1, 1976).

    With `against`, a group's name, only its pairs are returned, with it as the second; the family
    is still all pairs.

    Assumes runs that are independent and about normal within a group; variances and sizes may
    differ. Intervals and p values hold for all pairs together (studentised range). It does not use
    that runs come in blocks. Undetermined with a timeout or a group without spread. R:
    `rstatix::games_howell_test`.
    """
    runs = dict(zip(groups, as_groups(list(groups.values())), strict=True))
    if against is None:
        pairs = list(combinations(runs, 2))
    else:
        pairs = [(name, against) for name in runs if name != against]
    reason = why_untestable(list(runs.values()), means=True)
    if not reason and any(np.ptp(group) == 0 for group in runs.values()):
        reason = "the runs of a stack show no spread"
    if reason:
        return [PairDifference(a, b, reason=reason) for a, b in pairs]
    return [
        PairDifference(a, b, *_compare(runs[a], runs[b], len(runs), confidence)) for a, b in pairs
    ]


def _compare(
    x: Floats, r: Floats, groups: int, confidence: float
) -> tuple[float, float, float, float]:
    """Return the difference of means, its bounds and p.

    The degrees of freedom are Welch and Satterthwaite's.
    """
    variances = float(x.var(ddof=1)) / len(x), float(r.var(ddof=1)) / len(r)
    freedom = sum_freedom(variances, (len(x) - 1, len(r) - 1))
    error = math.sqrt(sum(variances) / 2)
    value = float(x.mean() - r.mean())
    reach = range_quantile(confidence, groups, freedom) * error
    p = range_survival(abs(value) / error, groups, freedom)
    return value, value - reach, value + reach, p


_Z = np.linspace(-9.0, 9.0, 73)  # steps of a quarter: exact to double precision for a normal
_NORMAL = np.exp(-(_Z**2) / 2) / np.sqrt(2 * np.pi) * (_Z[1] - _Z[0])
_BELOW = scipy.special.ndtr(_Z)
_DEVIATIONS_MIN = 65
_STEP_MAX = 0.06  # range of the deviation's logarithm, which is wide for few degrees of freedom
_TAIL = 1e-14  # probability of the deviation that is left out on either side


def range_survival(q: float, groups: int, freedom: float) -> float:
    """Return P(range of `groups` standard normals / independent deviation > q), Tukey's p value.

    The deviation is that of a variance with `freedom` degrees of freedom. Absolute error below 1e-8
    for 2 to 50 groups and one degree of freedom or more. Source: Tukey 1953; the double integral as
    in Copenhaver and Holland, J. Statistical Computation and Simulation 30, 1988.
    """
    if groups == 2:  # then q is Student's t times the root of two
        return 2 * float(scipy.special.stdtr(freedom, -q / np.sqrt(2)))
    deviation, weight = _deviations(freedom)
    # The chance that not all others are within w below the largest z: a**m - b**m, uncancelled.
    further = scipy.special.ndtr(_Z[:, None] - q * deviation[None, :])
    within, power, total = _BELOW[:, None] - further, 1.0, 0.0
    for _ in range(groups - 1):
        total = total * _BELOW[:, None] + power
        power = power * within
    beyond = groups * _NORMAL @ (further * total)
    return min(1.0, float(beyond @ weight))


def range_quantile(confidence: float, groups: int, freedom: float) -> float:
    """Return the q that a studentised range does not exceed with chance `confidence`."""
    level = 1 - confidence
    if groups == 2:
        return float(np.sqrt(2) * scipy.special.stdtrit(freedom, 1 - level / 2))
    pairs = groups * (groups - 1) / 2
    least, most = (
        np.sqrt(2) * float(scipy.special.stdtrit(freedom, 1 - tail / 2))
        for tail in (level, level / pairs)  # bounds: a single pair, and Bonferroni over all pairs
    )
    return float(
        scipy.optimize.brentq(
            lambda q: range_survival(q, groups, freedom) - level, least, most, xtol=1e-7
        )
    )


def _deviations(freedom: float) -> tuple[np.ndarray, np.ndarray]:
    """Return deviations and their weights: the root of chi squared over its degrees of freedom.

    On the logarithm's scale their density vanishes smoothly on both sides, however few the degrees.
    """
    low, high = (
        0.5 * np.log(2 * scipy.special.gammaincinv(freedom / 2, tail) / freedom)
        for tail in (_TAIL, 1 - _TAIL)
    )
    count = max(_DEVIATIONS_MIN, int((high - low) / _STEP_MAX) + 2)
    on_log = np.linspace(low, high, count)
    deviation = np.exp(on_log)
    density = freedom * (on_log - deviation**2 / 2)
    weight = np.exp(density - density.max())
    return deviation, weight / weight.sum()


_KRUSKAL_RUNS_MIN = 5  # the chi-squared approximation is poor below


def kruskal_wallis(groups: Sequence[ArrayLike]) -> DifferenceTest:
    """Test ranks for equal distributions, corrected for ties (Kruskal and Wallis, JASA 47, 1952).

    Assumes independent runs; no distribution is assumed. p comes from the chi-squared
    approximation, which needs at least five runs per group. A timeout (infinity) shares the largest
    rank: it is censored at the limit, and any value above the limit has that rank. It does not use
    that runs come in blocks. R: `kruskal.test(list(...))`.
    """
    runs = as_groups(list(groups))
    if reason := why_untestable(runs, means=False):
        return DifferenceTest(reason=reason)
    if any(len(group) < _KRUSKAL_RUNS_MIN for group in runs):
        return DifferenceTest(reason=f"fewer than {_KRUSKAL_RUNS_MIN} runs")
    if len(np.unique(np.concatenate(runs))) == 1:
        return DifferenceTest(reason="all runs are equal")
    result = scipy.stats.kruskal(*runs)
    return test_result(float(result.statistic), float(result.pvalue), (float(len(runs) - 1),))


@dataclass(frozen=True)
class Dominance:
    """Cliff's delta, P(value > reference) - P(value < reference), with its interval and p.

    At -1 every load is faster than every one of the reference. None, with the reason, if it cannot
    be computed; without an interval if the samples do not overlap or have no spread.
    """

    delta: float | None = None
    low: float | None = None
    high: float | None = None
    u: float | None = None
    p: float | None = None
    reason: str = ""


def mann_whitney(
    values: ArrayLike, reference: ArrayLike, confidence: float = CONFIDENCE
) -> Dominance:
    """Return the two-sided Mann-Whitney U (exact without ties up to 8 runs) and Cliff's delta.

    Assumes independent runs; it does not use that they come in pairs. A timeout (infinity) is
    slower than any load that ended and ties with other timeouts, which is the order after censoring
    at the limit. The interval is Cliff's, asymmetric, from the consistent variance estimate (Cliff,
    Psychological Bulletin 114, 1993, equations 10 and 12 with Feng and Cliff's bounds, J. Modern
    Applied Statistical Methods 3, 2004). R: `wilcox.test(x, y)`, `effsize::cliff.delta(x, y)`.
    """
    x, r = as_groups([values, reference])
    if reason := why_untestable([x, r], means=False):
        return Dominance(reason=reason)
    with np.errstate(invalid="ignore"):  # infinity - infinity: two timeouts, a tie
        signs = np.sign(np.nan_to_num(x[:, None] - r[None, :], nan=0.0))
    delta = float(signs.mean())
    if not signs.any():
        return Dominance(0.0, reason="all runs are equal")
    result = scipy.stats.mannwhitneyu(x, r, alternative="two-sided")
    low, high = _interval(signs, delta, confidence)
    reason = "" if low is not None else "every load of one stack is slower than every other one's"
    return Dominance(delta, low, high, float(result.statistic), float(result.pvalue), reason)


def _interval(signs: Floats, delta: float, confidence: float) -> tuple[float | None, float | None]:
    n, m = signs.shape
    if abs(delta) == 1:
        return None, None
    rows = ((signs.mean(axis=1) - delta) ** 2).sum()
    columns = ((signs.mean(axis=0) - delta) ** 2).sum()
    cells = ((signs - delta) ** 2).sum()
    variance = (m**2 * rows + n**2 * columns - cells) / (n * m * (n - 1) * (m - 1))
    # The unbiased estimate can fall below any sample's; this is Cliff's lower limit for it.
    variance = max(variance, (1 - delta**2) / (n * m - 1))
    z = float(scipy.stats.norm.ppf(0.5 + confidence / 2))
    reach = z * math.sqrt(variance) * math.sqrt((1 - delta**2) ** 2 + z**2 * variance)
    divisor = 1 - delta**2 + z**2 * variance
    centre = delta - delta**3
    return (centre - reach) / divisor, (centre + reach) / divisor


EXACT_STATES_MAX = 50_000  # count vectors in memory at once; with more the permutations are sampled
RESAMPLES = 9_999  # accurate to 0.0043 (two standard errors) at a p value of 0.05


@dataclass(frozen=True)
class RateTest:
    """The p value of equal rates; None with the reason if it cannot be tested."""

    p: float | None
    reason: str = ""


def rates_differ(happened: Sequence[Sequence[bool]], seed: int = 1) -> RateTest:
    """Test over complete blocks (rows) whether an event is as frequent in all stacks (columns).

    Cochran's Q (Biometrika 37, 1950), with two stacks McNemar's test, with its permutation
    distribution: within a block the event is equally likely for each stack. Exact by counting if
    that is feasible, else by 9,999 permutations drawn with the pinned PCG64 bit stream of `seed`.
    Assumes independent blocks. Blocks in which all or none had the event have no information about
    a difference.
    """
    rows = [list(map(bool, row)) for row in happened]
    if not rows or len(rows[0]) < 2:
        return RateTest(None, f"{UNDETERMINED}: fewer than two stacks or no complete block")
    if len({len(row) for row in rows}) != 1:
        raise ValueError("blocks must be complete: every row has one entry a stack")
    columns = len(rows[0])
    informative = [row for row in rows if 0 < sum(row) < columns]
    if not informative:
        return RateTest(None, "no block in which the stacks differ")
    counts = [sum(row[column] for row in informative) for column in range(columns)]
    sizes = [sum(row) for row in informative]
    p = _exact_p(sizes, columns, _spread(counts))
    return RateTest(p if p is not None else _sample_p(sizes, columns, _spread(counts), seed))


def _spread(counts: Sequence[int]) -> int:
    """Return Cochran's Q as an integer, up to factors that are the same for every permutation."""
    return len(counts) * sum(count**2 for count in counts) - sum(counts) ** 2


def _exact_p(sizes: Sequence[int], columns: int, observed: int) -> float | None:
    states: dict[tuple[int, ...], float] = {(0,) * columns: 1.0}
    for size in sizes:
        chance = 1 / math.comb(columns, size)
        following: dict[tuple[int, ...], float] = {}
        for chosen in combinations(range(columns), size):
            for counts, weight in states.items():
                key = tuple(count + (column in chosen) for column, count in enumerate(counts))
                following[key] = following.get(key, 0.0) + weight * chance
        if len(following) > EXACT_STATES_MAX:
            return None
        states = following
    return min(1.0, sum(w for counts, w in states.items() if _spread(counts) >= observed))


def _sample_p(sizes: Sequence[int], columns: int, observed: int, seed: int) -> float:
    stream = np.random.PCG64(seed)
    counts = np.zeros((RESAMPLES, columns), dtype=np.int64)
    for size in sizes:
        keys = stream.random_raw(RESAMPLES * columns).reshape(RESAMPLES, columns)
        counts += np.argsort(np.argsort(keys, axis=1), axis=1) < size
    spread = columns * (counts**2).sum(axis=1) - counts.sum(axis=1) ** 2
    return (1 + int((spread >= observed).sum())) / (RESAMPLES + 1)
