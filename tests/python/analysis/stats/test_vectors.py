"""Statistics against values computed from their formulas without any statistics library.

`vectors/statistics/compute.py` computes them and says how.
"""

import json
import math

import numpy as np
import pytest
from repository import ROOT

from eyelevel.analysis.stats.censoring import log_rank
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.families import correct
from eyelevel.analysis.stats.hypothesis import (
    equivalence,
    games_howell,
    kruskal_wallis,
    mann_whitney,
    welch_anova,
)
from eyelevel.analysis.stats.paired import sign_flip_p
from eyelevel.analysis.stats.paired_gains import geometric_gain, median_gain
from eyelevel.analysis.stats.sequential import log_e

FILE = ROOT / "vectors" / "statistics" / "vectors.json"
VECTORS = json.loads(FILE.read_text(encoding="utf-8"))


def near(value, digits=1e-6):
    return pytest.approx(value, rel=digits)


@pytest.mark.parametrize("case", VECTORS["welch_anova"])
def test_welch_anova(case):
    found = welch_anova(case["groups"])
    assert found.statistic == near(case["statistic"]) and found.p == near(case["p"])
    assert found.degrees_of_freedom == near(tuple(case["df"]))


@pytest.mark.parametrize("case", VECTORS["kruskal_wallis"])
def test_kruskal_wallis(case):
    found = kruskal_wallis(case["groups"])
    assert found.statistic == near(case["statistic"]) and found.p == near(case["p"])


@pytest.mark.parametrize("case", VECTORS["games_howell"])
def test_games_howell(case):
    for found, expected in zip(games_howell(case["groups"]), case["pairs"], strict=True):
        assert [found.first, found.second] == expected["pair"]
        assert found.value == near(expected["value"]) and found.p == near(expected["p"], 1e-4)
        assert (found.low < 0 < found.high) == (found.p > 0.05)


@pytest.mark.parametrize("case", VECTORS["mann_whitney"])
def test_mann_whitney_and_cliffs_delta(case):
    found = mann_whitney(case["values"], case["reference"])
    assert found.u == near(case["u"]) and found.p == near(case["p"])
    assert found.delta == near(case["delta"]) and -1 <= found.low < found.delta < found.high <= 1


@pytest.mark.parametrize("case", VECTORS["over_repetitions"])
def test_gain_over_repetitions(case):
    pair = case["values"], case["reference"]
    for found, expected in ((geometric_gain(*pair), "gain"), (median_gain(*pair), "median")):
        assert [found.value, found.low, found.high, found.p] == near(case[expected])


@pytest.mark.parametrize("case", VECTORS["sign_flips"])
def test_sign_flips(case):
    assert sign_flip_p(np.array(case["differences"])) == near(case["p"])


@pytest.mark.parametrize("case", VECTORS["equivalence"])
def test_equivalence(case):
    estimate = Estimate(
        case["value"], standard_error=case["error"], degrees_of_freedom=case["df"], n=10
    )
    assert equivalence(estimate, -case["bound"], case["bound"]).p == near(case["p"], 1e-5)


@pytest.mark.parametrize("case", VECTORS["benjamini_hochberg"])
def test_benjamini_hochberg(case):
    family = correct({"all": [*case["p"], None]}, "benjamini-hochberg")["all"]
    assert family.adjusted[:-1] == near(tuple(case["adjusted"]))
    assert family.adjusted[-1] is None and family.members == len(case["p"])


@pytest.mark.parametrize("case", VECTORS["log_rank"])
def test_log_rank(case):
    def times(values):
        return [math.inf if value is None else value for value in values]

    found = log_rank(times(case["values"]), times(case["reference"]), case["limit"])
    assert abs(found.statistic) == near(abs(case["z"])) and found.p == near(case["p"])


@pytest.mark.parametrize("case", VECTORS["confidence_sequence"])
def test_the_mixture_of_a_confidence_sequence(case):
    values, spread = np.array(case["values"]), case["spread"]
    n = len(values)
    t = values.mean() / values.std(ddof=1) * n**0.5
    found = min(1.0, math.exp(-log_e(t, n, spread)))
    assert found == near(case["p"], 1e-5)
