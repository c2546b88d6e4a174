import math

import pytest

from eyelevel.analysis.stats.hypothesis import anova_of_two

# Annette Dobson's plant weights, R's help page of lm: summary(lm(weight ~ group)) prints
# "F-statistic: 1.419 on 1 and 18 DF, p-value: 0.249".
CONTROL = [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14]
TREATED = [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69]


def test_equals_what_r_prints():
    found = anova_of_two(TREATED, CONTROL)
    assert found.f == pytest.approx(1.419, abs=5e-4)
    assert found.p == pytest.approx(0.249, abs=5e-4)
    assert found.verdict == "no significant difference"


def test_by_hand():
    # means 2 and 12, grand mean 7: between 3 * 25 * 2 = 150; within 2 + 2 = 4 with 4 degrees
    found = anova_of_two([1, 2, 3], [11, 12, 13])
    assert found.f == pytest.approx(150)
    assert found.verdict == "lower"
    assert anova_of_two([11, 12, 13], [1, 2, 3]).verdict == "higher"


@pytest.mark.parametrize(
    ("x", "r"), [([1], [1, 2]), ([1, math.inf], [1, 2]), ([5, 5], [7, 7]), ([], [])]
)
def test_what_cannot_be_done_is_undetermined(x, r):
    found = anova_of_two(x, r)
    assert found.verdict == "undetermined" and found.p is None and found.reason
