import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from scipy import stats

from eyelevel.analysis.stats import paired
from eyelevel.analysis.stats.paired import hodges_lehmann, median

# Hamilton depression scores, R's help page of wilcox.test (Hollander and Wolfe, page 29): the
# one-sided p value that R prints for these pairs is 0.01953.
FIRST = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
SECOND = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]


def by_enumeration(differences, confidence):
    """Estimate and interval straight from the definitions, all 2^n signs counted."""
    n = len(differences)
    averages = sorted((a + b) / 2 for a, b in combinations_with_replacement(differences, 2))
    sums = [sum(i + 1 for i in range(n) if s[i]) for s in product([0, 1], repeat=n)]
    rank = 0
    while sum(each <= rank for each in sums) / 2**n <= (1 - confidence) / 2:
        rank += 1
    middle = len(averages)
    centre = (averages[(middle - 1) // 2] + averages[middle // 2]) / 2
    return centre, averages[rank - 1], averages[-rank]


def test_p_value_is_rs():
    assert hodges_lehmann(FIRST, SECOND).p == pytest.approx(2 * 0.01953, abs=1e-5)


def test_p_values_are_scipys_exact_ones():
    draw = np.random.Generator(np.random.PCG64(3))
    for n in (1, 2, 5, 12, 31):
        x, r = draw.normal(0.3, 1, n), draw.normal(0, 1, n)
        # Through the private function: few pairs have a p value but no interval to stand beside.
        expected = stats.wilcoxon(x - r, method="exact").pvalue
        assert paired._signed_rank_p(x - r) == pytest.approx(expected)


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_estimate_and_interval_are_those_of_full_enumeration(confidence):
    found = hodges_lehmann(FIRST, SECOND, confidence)
    differences = [a - b for a, b in zip(FIRST, SECOND, strict=True)]
    expected = by_enumeration(differences, confidence)
    assert (found.value, found.low, found.high) == pytest.approx(expected)


def test_the_normal_approximation_meets_the_exact_ranks():
    exact = paired._lower_rank(60, 0.95)
    mean, deviation = 60 * 61 / 4, math.sqrt(60 * 61 * 121 / 24)
    assert abs(exact - math.floor(mean - 1.959964 * deviation)) <= 1


def test_tied_differences_have_a_p_value_too():
    # Six differences below zero and one of zero, which has no sign: 2 / 2^6.
    found = hodges_lehmann([1, 2, 3, 4, 5, 6, 7], [2, 3, 4, 5, 6, 9, 7])
    assert found.value == -1 and found.p == pytest.approx(2 / 64)
    # Mid-ranks 1.5, 1.5, 3.5, 3.5, 5, the smaller sum 1.5: 3 of 32 sign patterns reach it.
    assert paired._signed_rank_p(np.array([1.0, -1, 2, 2, 3])) == pytest.approx(2 * 3 / 32)


def test_five_pairs_have_no_95_percent_interval():
    found = hodges_lehmann([1, 2, 3, 4, 5], [2, 4, 6, 8, 10])
    assert found.value == pytest.approx(-3) and not found.determined and "too few" in found.reason
    assert hodges_lehmann([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]).determined


def test_a_timeout_takes_its_rank():
    reference = [10.0] * 7
    found = hodges_lehmann([8, 8.5, 7, 9, 8.2, 8.4, math.inf], reference)
    assert found.value < 0 and found.high > 0 and math.isfinite(found.value)


@pytest.mark.parametrize(
    ("x", "r"),
    [
        ([math.inf, 1], [math.inf, 2]),
        ([math.inf, 1], [1, math.inf]),
        ([math.inf, math.inf, 1], [1, 1, 2]),
        ([], []),
    ],
)
def test_what_timeouts_leave_open_is_undetermined(x, r):
    found = hodges_lehmann(x, r)
    assert found.value is None and found.reason


def test_medians_take_timeouts_as_slower_than_anything():
    assert median([3, math.inf, 1]) == 3
    assert median([math.inf, math.inf, 1]) == math.inf
    assert median([1, math.inf]) == math.inf
    assert median([4, 2]) == 3
    assert median([]) is None
