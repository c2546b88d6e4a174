"""Statistics against the outputs of R: each key of the file is its command (r.R beside it)."""

import json
import math

import numpy as np
import pytest
from repository import ROOT
from scipy import stats

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.analysis.stats.censoring import log_rank
from eyelevel.analysis.stats.estimate import detectable_effect
from eyelevel.analysis.stats.families import correct
from eyelevel.analysis.stats.hypothesis import (
    anova_of_two,
    kruskal_wallis,
    mann_whitney,
    welch_anova,
)
from eyelevel.analysis.stats.mixed_model import gain_over_sites
from eyelevel.analysis.stats.paired import hodges_lehmann

R = json.loads((ROOT / "vectors" / "statistics" / "r.json").read_text(encoding="utf-8"))
CTRL = [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14]
TRT1 = [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69]
TRT2 = [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26]
X = [520.1, 498.7, 533.9, 541.2, 507.4, 560.3, 515.8, 529.6]
Y = [551.0, 530.2, 541.7, 580.9, 512.5, 601.8, 560.1, 549.3]
LATE = math.inf


def r(start):
    """R's numbers by the beginning of the command."""
    (found,) = [values for command, values in R.items() if command.startswith(start)]
    return [pytest.approx(value, rel=1e-9) for value in found]


def test_one_way_anova():
    assert anova_of_two(CTRL, TRT1).p == r("aov")[1]


def test_welchs_anova():
    found = welch_anova([CTRL, TRT1, TRT2])
    assert [found.statistic, *found.degrees_of_freedom, found.p] == r("oneway.test")


def test_kruskal_wallis():
    found = kruskal_wallis([CTRL, TRT1, TRT2])
    assert [found.statistic, found.p] == r("kruskal.test")


def test_hodges_lehmann_with_its_interval():
    found = hodges_lehmann(X, Y)
    estimate, _, _, p = r("wilcox.test(x, y")
    assert (found.value, found.p) == (estimate, p)
    # Ours are the Walsh averages themselves, R's the same to its root finder's 1e-4.
    bounds = R["wilcox.test(x, y, paired = TRUE, conf.int = TRUE): estimate, low, high, p"][1:3]
    assert [found.low, found.high] == pytest.approx(bounds, abs=1e-3)


def test_mann_whitney():
    found = mann_whitney([12.1, 15.3, 9.8, 14.2, 11.0, 13.7], [16.4, 10.5, 17.9, 18.3, 14.9])
    assert [found.u, found.p] == r("wilcox.test(small")


@pytest.mark.parametrize(
    ("method", "command"),
    [("holm", "p.adjust(p, 'holm')"), ("benjamini-hochberg", "p.adjust(p, 'BH')")],
)
def test_corrections(method, command):
    (family,) = correct({"one": [0.001, 0.04, 0.03, 0.2, 0.049]}, method).values()
    assert list(family.adjusted) == r(command)


def test_log_rank():
    found = log_rank([3, 5, 6, 6, 9, LATE, LATE], [2, 3, 3, 4, 5, 7, LATE], 10)
    assert found.p == r("survdiff")[1]


def test_mixed_model():
    ratios = np.array([
        [-0.12, -0.08, -0.15, -0.10], [-0.02, 0.03, -0.04, 0.01], [-0.20, -0.17, -0.25, -0.19],
        [-0.07, -0.05, -0.11, -0.06], [-0.13, -0.09, -0.16, -0.12],
    ])  # fmt: skip
    pairs = {str(at): (np.exp(row), np.ones(4)) for at, row in enumerate(ratios)}
    found = gain_over_sites(pairs)
    mean, error, variance = R[next(key for key in R if key.startswith("lme("))]
    assert math.log1p(found.gain.value) == pytest.approx(mean, rel=1e-6)
    # The gain's error is that of its logarithm times exp(mean), by the delta method.
    assert math.log1p(found.gain.high) - math.log1p(found.gain.low) == pytest.approx(
        2 * stats.t.ppf(0.975, 4) * error, rel=1e-4
    )
    assert found.deviation_sites**2 == pytest.approx(variance, rel=1e-3)


def test_binomial_interval_and_power():
    assert list(binomial_interval(8, 50, 0.95)) == r("binom.test")
    assert detectable_effect(1 / math.sqrt(20), 19) == pytest.approx(
        R[next(key for key in R if key.startswith("power.t.test"))][0], rel=1e-5
    )


def test_detectable_effect_is_rs_power_t_test():
    # R: power.t.test(n = 20, power = 0.8, type = "one.sample") gives delta = 0.6604
    assert detectable_effect(1 / math.sqrt(20), 19) == pytest.approx(0.6604, abs=5e-5)
