"""What a study says of its blocks, against R: r.R computes each number another way than we do.

It has the loads of two runs, too: three sites x twelve and nine repetitions, in ms.
"""

import json
import math

import numpy as np
import pytest
from repository import ROOT

from eyelevel.analysis.gate import family_confidence
from eyelevel.analysis.stats.censoring import (
    restricted_mean_difference,
    slow_loads,
    timeouts,
    up_to_limit,
)
from eyelevel.analysis.stats.estimate import welch_estimate
from eyelevel.analysis.stats.gain_change import gain_change
from eyelevel.analysis.stats.hypothesis import gain_equivalence, games_howell, rates_differ
from eyelevel.analysis.stats.paired import median_estimate
from eyelevel.analysis.stats.paired_gains import (
    difference_over_sites,
    geometric_gain,
    mean_over_repetitions,
    median_gain,
    performance_gain,
)
from eyelevel.analysis.stats.quantile import blocks_to_bound, quantile_interval
from eyelevel.analysis.stats.quantile_gain import quantile_gain
from eyelevel.analysis.stats.sequential import log_e, reach_at

R = json.loads((ROOT / "vectors" / "statistics" / "r.json").read_text(encoding="utf-8"))
LATE = math.inf


def r(name):
    """R's numbers by what they are."""
    (found,) = [numbers for command, numbers in R.items() if command.startswith(f"{name}: ")]
    return found


def given(name):
    return np.array(R[f"given, sites x repetitions: {name}"]).reshape(3, -1)


TCP, QUIC, TCP_AGAIN, QUIC_AGAIN = map(given, ("tcp", "quic", "tcp_again", "quic_again"))
LOG_RATIOS = np.log(QUIC) - np.log(TCP)
LIMIT = np.array(R["given, sites: limit"])
LATE_TCP, LATE_QUIC = TCP.copy(), QUIC.copy()
LATE_TCP[[0, 1, 2, 0, 2, 1], [0, 0, 3, 8, 9, 11]] = LATE
LATE_QUIC[1, 6] = LATE


def numbers(found):
    return [found.value, found.low, found.high, found.p]


def as_gain(name):
    """R's mean log ratio with its bounds as a gain."""
    *bounds, p = r(name)
    return approx([*map(math.expm1, bounds), p])


def approx(expected, rel=1e-9):
    return pytest.approx(expected, rel=rel)


def test_the_gain_over_sites():
    assert numbers(geometric_gain(QUIC, TCP)) == as_gain("mean log ratio")


def test_bonferronis_interval_of_one_comparison_of_six():
    found = geometric_gain(QUIC, TCP, family_confidence(6))
    assert numbers(found) == as_gain("mean log ratio, one of six")


def test_the_difference_over_sites_in_ms():
    assert numbers(difference_over_sites(QUIC, TCP)) == approx(r("difference"))


def test_the_median_with_its_interval_by_ranks():
    assert numbers(median_gain(QUIC, TCP)) == as_gain("median log ratio")
    found = median_estimate(LOG_RATIOS.ravel(), "blocks")
    assert numbers(found) == approx(r("median of 36 blocks"))


@pytest.mark.parametrize(
    ("name", "site", "lost"),
    [("every block there", 1, []), ("a lost block", 1, [6]), ("few blocks left", 1, range(3, 12))],
)
def test_the_error_over_repetitions_as_clusters(name, site, lost):
    ratios = LOG_RATIOS.copy()
    ratios[site, list(lost)] = math.nan
    found = mean_over_repetitions(ratios)
    assert [*numbers(found), found.degrees_of_freedom] == approx(r(name))


def test_equivalence_by_two_one_sided_tests():
    low, high = r("equivalence, low, 20 %")[0], r("equivalence, high, 20 %")[0]
    assert gain_equivalence(geometric_gain(QUIC, TCP), 0.2).p == approx(max(low, high))
    # Turned round, the other bound is the nearer one.
    turned = math.log(0.8) + math.log(1.2)
    found = gain_equivalence(geometric_gain(TCP * math.exp(turned), QUIC), 0.2)
    assert found.p == approx(low)


@pytest.mark.parametrize("slower_throughout", [1.0, 1.6])
def test_shares_of_slow_loads_and_every_choice_of_signs(slower_throughout):
    found = slow_loads(slower_throughout * QUIC, TCP)
    shares = found.share, found.share_reference
    expected = r("slow loads, quic"), r("slow loads, tcp")
    assert [[each.value, each.low, each.high] for each in shares] == [*map(approx, expected)]
    assert [found.p] == approx(r("slow loads, p"))


def test_timeouts_by_every_choice_of_signs():
    found = timeouts(LATE_QUIC, LATE_TCP, LIMIT)
    assert (found.count, found.count_reference, found.pairs) == (1, 6, 36)
    assert [found.p] == approx(r("timeouts, p"))


def test_of_one_site_numbers_of_events_are_mcnemars_test():
    first, second = [True] + [False] * 11, [False] + [True] * 7 + [False] * 4
    late, late_too = (np.where(happened, LATE, 100.0) for happened in (first, second))
    assert [timeouts(late, late_too, 1000.0).p] == approx(r("of one site, p"))
    assert [rates_differ(list(zip(first, second, strict=True))).p] == approx(r("of one site, p"))


def test_timeouts_count_as_their_sites_limit():
    pair = up_to_limit(LATE_QUIC, LIMIT), up_to_limit(LATE_TCP, LIMIT)
    assert numbers(geometric_gain(*pair)) == as_gain("up to the limit, mean log ratio")
    assert numbers(difference_over_sites(*pair)) == approx(r("up to the limit, difference"))
    found = restricted_mean_difference(LATE_QUIC[0], LATE_TCP[0], 1600)
    assert numbers(found) == approx(r("up to the limit, one site"))


def test_two_runs_are_welchs_test_of_their_gains():
    before, now = (QUIC, TCP, LIMIT), (QUIC_AGAIN, TCP_AGAIN, LIMIT)
    limitless = [(x, reference, np.full(3, LATE)) for x, reference, _ in (before, now)]
    found = gain_change(*limitless, family_confidence(2))
    assert numbers(found.change) == as_gain("two runs, change")
    assert numbers(welch_estimate(TCP_AGAIN[0], TCP[0])) == approx(r("two groups"))


def test_a_budgets_interval_is_between_two_loads():
    found = quantile_interval(TCP.ravel(), 0.75)
    assert [found.value, found.low, found.high] == r("budget, p75 of 36 loads")
    found = quantile_interval(TCP[1], 0.5, family_confidence(4))
    assert [found.value, found.low, found.high] == r("budget, p50 of 12 loads, one of four")


@pytest.mark.parametrize(("side", "below"), [("below", 0.85), ("above", 0.6)])
def test_how_many_blocks_decide_a_budget(side, below):
    asked = f"budget, blocks for p75 {side} what {below:.0%} are below".replace("%", " %")
    assert [blocks_to_bound(0.75, below, 0.95)] == r(asked)


def test_the_gain_of_a_quantile_is_of_observed_loads():
    found = [quantile_gain(QUIC, TCP, share).value for share in (0.5, 0.75)]
    assert found == approx(r("quantile gain, p50 and p75"))


def test_the_papers_ratio_of_means():
    found = performance_gain(QUIC[0], TCP[0])
    assert [found.low, found.high] == approx(r("ratio of means, one site"))


def test_games_howell():
    groups = {
        "ctrl": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14],
        "trt1": [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
        "trt2": [6.31, 5.12, 5.54, 5.50, 5.37, 5.29, 4.92, 6.15, 5.80, 5.26],
    }
    first, _, last = games_howell(groups)
    assert numbers(first) == approx(r("Games and Howell, ctrl - trt1"), 1e-7)
    assert numbers(last) == approx(r("Games and Howell, trt1 - trt2"), 1e-7)


@pytest.mark.parametrize(
    ("values", "level", "asked"),
    [
        (LOG_RATIOS.mean(axis=0), 0.05, "confidence sequence at 5 %"),
        (
            np.log(QUIC_AGAIN / TCP_AGAIN).mean(axis=0)[:6],
            0.01,
            "confidence sequence, 6 values at 1 %",
        ),
    ],
)
def test_the_boundary_of_the_confidence_sequence_is_of_a_mean_of_likelihood_ratios(
    values, level, asked
):
    """R's has Ville's limit and a mixture of spread 1; ours another limit on the same E."""
    n = len(values)
    mean, error = values.mean(), values.std(ddof=1) / math.sqrt(n)
    reach = reach_at(-math.log(level), n, 1.0) * error
    p = math.exp(-float(log_e(mean / error, n, 1.0)))
    assert [mean, mean - reach, mean + reach, p] == approx(r(asked), 1e-6)
