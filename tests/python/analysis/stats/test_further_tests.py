"""What the further tests say where they cannot be done, and what follows from their definitions."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from eyelevel.analysis.stats.bootstrap import bootstrap_difference
from eyelevel.analysis.stats.censoring import log_rank, restricted_mean_difference
from eyelevel.analysis.stats.estimate import undetermined
from eyelevel.analysis.stats.families import correct
from eyelevel.analysis.stats.hypothesis import (
    anova_of_two,
    gain_equivalence,
    games_howell,
    kruskal_wallis,
    mann_whitney,
    welch_anova,
)
from eyelevel.analysis.stats.mixed_model import gain_over_sites
from eyelevel.analysis.stats.paired_gains import geometric_gain

LATE = math.inf


def draw(seed, n, mean=100.0, deviation=5.0):
    return mean + deviation * np.random.Generator(np.random.PCG64(seed)).standard_normal(n)


def test_one_run_no_spread_and_timeouts_are_undetermined():
    for groups in ([[1.0, 2.0], [3.0]], [[1.0, 2.0], [3.0, 3.0]], [[1.0, 2.0], [3.0, LATE]]):
        assert welch_anova(groups).p is None and welch_anova(groups).reason
        named = dict(zip("ab", groups, strict=True))
        assert games_howell(named)[0].p is None and games_howell(named)[0].reason
    assert kruskal_wallis([[1.0] * 5, [1.0] * 5]).reason == "all runs are equal"
    assert kruskal_wallis([[1.0] * 4, [2.0] * 5]).reason == "fewer than 5 runs"
    assert mann_whitney([1.0, 1.0], [1.0, 1.0]).p is None
    assert bootstrap_difference(draw(1, 9), draw(2, 9)).low is None
    assert gain_equivalence(undetermined("because"), 0.05).reason == "because"


def test_a_missing_value_is_refused():
    with pytest.raises(ValueError, match="drop runs"):
        welch_anova([[1.0, math.nan], [1.0, 2.0]])


def test_the_anova_is_scipys():
    x, r = draw(3, 31), draw(4, 30, 103)
    found, expected = anova_of_two(x, r), scipy_stats.f_oneway(x, r)
    assert (found.f, found.p) == pytest.approx((expected.statistic, expected.pvalue))


def test_ranks_take_timeouts_as_the_slowest():
    x, r = [1.0, 2.0, 3.0, 4.0, LATE], [5.0, 6.0, 7.0, 8.0, LATE]
    largest = [[1.0, 2.0, 3.0, 4.0, 99.0], [5.0, 6.0, 7.0, 8.0, 99.0]]
    assert kruskal_wallis([x, r]) == kruskal_wallis(largest)
    assert mann_whitney(x, r) == mann_whitney(*largest)


def test_complete_dominance_has_no_interval():
    found = mann_whitney([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    assert found.delta == -1 and found.low is None and found.p == pytest.approx(0.1)


def test_the_bootstrap_is_seeded_and_near_to_t_for_normal_differences():
    x, r = draw(5, 40, 110), draw(6, 40)
    found = bootstrap_difference(x, r)
    assert found == bootstrap_difference(x, r) != bootstrap_difference(x, r, seed=2)
    error = np.std(x - r, ddof=1) / math.sqrt(40)
    assert found.low == pytest.approx(found.value - 2.02 * error, abs=0.25 * error)
    assert found.high == pytest.approx(found.value + 2.02 * error, abs=0.25 * error)


def test_equivalence_is_a_finding_where_runs_are_many_and_alike():
    alike = geometric_gain(draw(7, 100), draw(8, 100))
    assert gain_equivalence(alike, 0.05).p < 0.01
    assert gain_equivalence(geometric_gain(draw(7, 100, 105), draw(8, 100)), 0.05).p > 0.05


@pytest.mark.parametrize("bound", ["low", "high"])
def test_equivalence_is_shown_exactly_where_the_90_percent_interval_lies_inside(bound):
    """By the delta method's error p was 0.057 where its low bound touches, 0.043 where its high."""
    mean = 100 * (0.82 if bound == "low" else 1.17)
    pair = draw(7, 6, mean, 0.1 * mean), draw(8, 6, 100, 10)
    inner = geometric_gain(*pair, confidence=0.9)
    assert gain_equivalence(inner, abs(getattr(inner, bound))).p == pytest.approx(0.05)


def test_families_are_corrected_each_for_itself():
    found = correct({"dsl": [0.01, 0.02], "lte": [0.04], "none": [None]}, "holm")
    assert found["dsl"].adjusted == pytest.approx((0.02, 0.02))
    assert found["lte"].adjusted == (0.04,) and found["none"].adjusted == (None,)


def test_the_restricted_mean_takes_a_timeout_as_the_limit():
    found = restricted_mean_difference([10.0, LATE, 12.0], [9.0, 11.0, 10.0], limit=20.0)
    assert found.value == pytest.approx((1 + 9 + 2) / 3)
    assert log_rank([LATE, LATE], [LATE, LATE], 20.0).p is None


def sites(count, runs, gain, between, within, seed=9):
    generator = np.random.Generator(np.random.PCG64(seed))
    effects = math.log1p(gain) + between * generator.standard_normal(count)
    return {
        f"s{n}": (np.exp(effect + within * generator.standard_normal(runs)), np.ones(runs))
        for n, effect in enumerate(effects)
    }


def test_for_balanced_data_the_mixed_model_is_a_t_test_of_the_sites_means():
    pairs = sites(12, 10, -0.1, 0.05, 0.03)
    means = np.array([np.log(x / r).mean() for x, r in pairs.values()])
    reach = scipy_stats.t.ppf(0.975, 11) * means.std(ddof=1) / math.sqrt(12)
    found = gain_over_sites(pairs)
    assert found.gain.value == pytest.approx(math.expm1(means.mean()), rel=1e-3)
    assert found.gain.low == pytest.approx(math.expm1(means.mean() - reach), rel=2e-3)
    assert found.deviation_sites == pytest.approx(0.05, abs=0.03)
    assert found.deviation_runs == pytest.approx(0.03, abs=0.005)


@pytest.mark.parametrize("between", [0.05, 0.0])
@pytest.mark.parametrize("seed", range(9, 19))
def test_for_balanced_data_the_mixed_model_is_its_closed_form(between, seed):
    count, runs = 9, 6
    pairs = sites(count, runs, -0.1, between, 0.04, seed)
    ratios = np.array([np.log(x / r) for x, r in pairs.values()])
    # Searle, Casella and McCulloch 1992, 3.8: mean squares between and within sites.
    of_means = runs * ratios.mean(axis=1).var(ddof=1)
    of_runs = ratios.var(axis=1, ddof=1).mean()
    if of_means <= of_runs:
        of_means = of_runs = ratios.var(ddof=1)
    found = gain_over_sites(pairs)
    assert found.gain.value == pytest.approx(math.expm1(ratios.mean()), abs=1e-9)
    assert found.deviation_sites == pytest.approx(math.sqrt((of_means - of_runs) / runs), abs=1e-5)
    assert found.deviation_runs == pytest.approx(math.sqrt(of_runs), rel=1e-5)


def test_for_other_data_the_mixed_model_is_statsmodels_where_sites_differ():
    from statsmodels.regression.mixed_linear_model import MixedLM

    every = sites(12, 10, -0.1, 0.05, 0.03)
    pairs = {name: (x[n % 6 :], r[n % 6 :]) for n, (name, (x, r)) in enumerate(every.items())}
    ratios = {name: 100 * np.log(x / r) for name, (x, r) in pairs.items()}
    joined = np.concatenate(list(ratios.values()))
    names = np.repeat(list(ratios), [len(each) for each in ratios.values()])
    fit = MixedLM(joined, np.ones((len(joined), 1)), names).fit(reml=True)
    found = gain_over_sites(pairs)
    assert math.log1p(found.gain.value) == pytest.approx(fit.params[0] / 100, abs=1e-6)
    assert found.deviation_sites == pytest.approx(math.sqrt(fit.cov_re[0, 0]) / 100, rel=1e-4)
    assert found.deviation_runs == pytest.approx(math.sqrt(fit.scale) / 100, rel=1e-4)


def test_the_mixed_model_says_where_it_cannot_be_fitted():
    assert "fewer than 5 sites" in gain_over_sites(sites(4, 5, 0, 0.1, 0.1)).gain.reason
    late = sites(6, 5, 0, 0.1, 0.1)
    late["s0"][0][0] = LATE
    assert "timed out" in gain_over_sites(late).gain.reason
    assert "no spread" in gain_over_sites(sites(6, 1, 0, 0.1, 0.1)).gain.reason
    assert gain_over_sites(sites(8, 6, 0, 0.0, 0.1)).gain.determined
