"""Tukey's q by sums, against scipy's adaptive integrals."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from eyelevel.analysis.stats.hypothesis import games_howell, range_quantile, range_survival


@pytest.mark.parametrize("groups", [2, 3, 5, 20])
@pytest.mark.parametrize("freedom", [1, 1.3, 4, 29.5, 5000])
def test_p_values_are_scipys(groups, freedom):
    for q in (0.1, 1.0, 3.0, 8.0):
        expected = scipy_stats.studentized_range.sf(q, groups, freedom)
        assert range_survival(q, groups, freedom) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("groups", "freedom"), [(2, 3.0), (3, 1.0), (5, 41.7)])
def test_the_quantile_inverts_the_p_value(groups, freedom):
    q = range_quantile(0.95, groups, freedom)
    assert range_survival(q, groups, freedom) == pytest.approx(0.05, abs=1e-7)


def test_a_small_p_value_keeps_its_digits():
    expected = scipy_stats.t.sf(9 / np.sqrt(2), 200) * 2
    # All three pairs are about as unlikely as each alone, and never likelier than their sum.
    assert expected < range_survival(9.0, 3, 200) < 3 * expected < 1e-7


def test_games_howell_is_scipys():
    draw = np.random.Generator(np.random.PCG64(12))
    groups = {
        "a": 100 + 4 * draw.standard_normal(7),
        "b": 103 + 9 * draw.standard_normal(12),
        "c": 97 + 2 * draw.standard_normal(5),
    }
    expected = scipy_stats.tukey_hsd(*groups.values(), equal_var=False)
    bounds = expected.confidence_interval(0.95)
    for found, pair in zip(games_howell(groups), ((0, 1), (0, 2), (1, 2)), strict=True):
        assert found.value == pytest.approx(expected.statistic[pair])
        assert found.p == pytest.approx(expected.pvalue[pair], abs=1e-8)
        assert found.low == pytest.approx(bounds.low[pair], rel=1e-5)
        assert found.high == pytest.approx(bounds.high[pair], rel=1e-5)
