import math

import numpy as np
import pytest
import scipy

from eyelevel.analysis.stats.sequential import (
    Horizon,
    confidence_sequence,
    crossing_chance,
    log_e,
    log_limit_of,
    reach_at,
    reach_in_errors,
)

LAST, STUDIES = 60, 20_000
LOOKS = Horizon(6, LAST)


def t_statistics(seed, effect=0.0):
    """Studies x blocks: the t statistic after each block from the second on."""
    draws = np.random.Generator(np.random.PCG64(seed)).standard_normal((STUDIES, LAST)) + effect
    n = np.arange(1, LAST + 1)
    means = draws.cumsum(axis=1) / n
    squares = (draws**2).cumsum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        errors = np.sqrt((squares - n * means**2) / (n - 1) / n)
        return means / errors


def reaches(level, *, one_sided=False, horizon=LOOKS):
    return np.array(
        [reach_in_errors(n, level, horizon, one_sided=one_sided) for n in range(1, LAST + 1)]
    )


@pytest.mark.parametrize("level", [0.05, 0.0125])
def test_looking_after_every_block_misses_the_truth_as_often_as_promised(level):
    t = t_statistics(5)[:, 5:]
    error = 3.5 * (level / STUDIES) ** 0.5
    assert (np.abs(t) > reaches(level)[5:]).any(axis=1).mean() == pytest.approx(level, abs=error)
    above = (t > reaches(level, one_sided=True)[5:]).any(axis=1).mean()
    assert above == pytest.approx(level, abs=error)
    # A plain t interval, looked at as often, would be wrong several times as often.
    assert (np.abs(t) > 2.0).any(axis=1).mean() > 0.2


def test_a_bound_is_crossed_least_where_the_truth_is_farther_off():
    """So that each one-sided bound has its level against every truth beyond it."""
    limits = reaches(0.05, one_sided=True)[5:]
    off = (t_statistics(5, effect=-0.1)[:, 5:] > limits).any(axis=1).mean()
    assert off < 0.03


@pytest.mark.parametrize("n", [2, 3, 5, 12, 40])
def test_of_a_single_look_it_is_students_t(n):
    once = Horizon(n, n)
    for level in (0.05, 0.0125, 0.0005):
        expected = scipy.stats.t.ppf(1 - level / 2, n - 1)
        assert reach_in_errors(n, level, once) == pytest.approx(expected, rel=0.02)
        expected = scipy.stats.t.ppf(1 - level, n - 1)
        assert reach_in_errors(n, level, once, one_sided=True) == pytest.approx(expected, rel=0.02)
    values = np.random.Generator(np.random.PCG64(2)).normal(0.3, 1.0, n)
    found = confidence_sequence(values, 0.05, once)
    expected = scipy.stats.ttest_1samp(values, 0.0).pvalue
    assert found.p == pytest.approx(expected, rel=0.05)


def test_e_is_the_mean_of_the_likelihood_ratios_over_the_mixture():
    n, spread = 20, LOOKS.effect_spread
    for t in (0.5, 2.0, 4.0):
        ratio, _ = scipy.integrate.quad(
            lambda effect, t=t: (
                scipy.stats.nct.pdf(t, n - 1, effect * math.sqrt(n))
                / scipy.stats.t.pdf(t, n - 1)
                * scipy.stats.norm.pdf(effect, 0, spread)
            ),
            -8 * spread,
            8 * spread,
        )
        assert float(log_e(t, n, spread)) == pytest.approx(math.log(ratio), abs=1e-6)
        assert reach_at(math.log(ratio), n, spread) == pytest.approx(t, rel=1e-5)


def test_the_chance_is_below_villes_bound_and_the_reverse_of_the_limit():
    for limit in (1.0, 3.0, 6.0, 12.0, 30.0):
        assert 0 < crossing_chance(limit, LOOKS) < math.exp(-limit)
    for level in (0.5, 0.05, 0.001, 1e-7):
        for one_sided in (False, True):
            limit = log_limit_of(level, LOOKS, one_sided=one_sided)
            assert crossing_chance(limit, LOOKS, one_sided=one_sided) == pytest.approx(level)


def test_p_is_the_level_at_which_zero_is_just_outside():
    values = np.random.Generator(np.random.PCG64(3)).normal(0.5, 1.0, 25)
    found = confidence_sequence(values, 0.05, LOOKS)
    at_limit = confidence_sequence(values, found.p, LOOKS)
    assert min(abs(at_limit.low), abs(at_limit.high)) < 1e-6


def test_it_narrows_and_is_wider_than_a_plain_interval():
    found = [reach / n**0.5 for n, reach in enumerate(reaches(0.05), 1) if n in (12, 16, 32, 60)]
    assert found == sorted(found, reverse=True)
    assert reaches(0.05)[29] > 2.05


def test_there_is_no_interval_outside_the_looks():
    assert math.isinf(reach_in_errors(5, 0.05, Horizon(6, 6)))
    assert math.isfinite(reach_in_errors(6, 0.05, Horizon(6, 6)))
    assert math.isinf(reach_in_errors(61, 0.05, LOOKS))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no complete block is left"),
        ([1.0], "the blocks so far show no spread"),
        ([1.0, 1.0, 1.0], "the blocks so far show no spread"),
        ([1.0, 2.0], "2 blocks are too few to stop at"),
        ([1.0, np.inf, 2.0], "a load timed out, so there is no mean"),
    ],
)
def test_what_cannot_be_known_is_undetermined(values, reason):
    found = confidence_sequence(values, 0.05, LOOKS)
    assert found.low is None and found.p is None and found.reason == reason
