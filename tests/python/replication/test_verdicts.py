"""Verdicts on published claims: their rules, and simulated studies whose truth is known."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sample_claim import sample_claim

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.replication.claims import Claim, Row, Term
from eyelevel.replication.estimators import (
    SitePairs,
    Statistic,
    _quantiles,
    compare_neighbours,
    estimate_share_of_sites,
    statistic_of,
)
from eyelevel.replication.verdicts import (
    confidence_of,
    judge_claim,
    judge_row,
    region_of,
    word_verdict,
)

STUDIES = 400
ROW = Row("dsl", "speed_index_ms", "quic/tcp+", -0.09)


def verdicts(truth: float, spread: float, of: Claim, sites: int = 15, seed: int = 1) -> list[str]:
    """Return the verdicts of simulated studies whose sites' gains scatter around `truth`."""
    draw = np.random.Generator(np.random.PCG64(seed))
    region = region_of(of, ROW)
    found = []
    for _ in range(STUDIES):
        gains = truth + spread * draw.standard_normal(sites)
        found.append(judge_row(mean_of(gains).estimate(), region))
    return found


def mean_of(gains: NDArray[np.float64]) -> Statistic:
    """Return the mean over sites, a site for each gain."""
    names = tuple(map(str, range(len(gains))))
    return Statistic(names, lambda draws: gains[draws].mean(axis=1))


def share(verdict: str, found: list[str]) -> float:
    return found.count(verdict) / len(found)


def test_true_number_agrees_where_the_interval_is_narrower_than_the_margin() -> None:
    # A spread of 2.5 % over 15 sites: the interval is 2.8 points wide, the margin 3.
    assert share("agrees", verdicts(-0.09, 0.025, sample_claim())) >= 0.9


@pytest.mark.parametrize("truth", [0.0, 0.09, -0.06, -0.12])
def test_false_number_seldom_agrees(truth: float) -> None:
    assert share("agrees", verdicts(truth, 0.025, sample_claim())) <= 0.05


@pytest.mark.parametrize("truth", [-0.06, -0.12, -0.09])
def test_number_at_the_edge_of_its_margin_seldom_disagrees(truth: float) -> None:
    assert share("disagrees", verdicts(truth, 0.025, sample_claim())) <= 0.05


def test_number_far_away_disagrees() -> None:
    assert share("disagrees", verdicts(0.09, 0.025, sample_claim())) >= 0.95


def test_small_budget_cannot_tell() -> None:
    assert share("cannot tell", verdicts(-0.09, 0.3, sample_claim())) >= 0.9


def test_equal_stacks_confirm_no_sign() -> None:
    of = sample_claim(rule="sign", sign="negative", number=None)
    found = verdicts(0.0, 0.05, of)
    assert share("agrees", found) <= 0.05
    assert share("disagrees", found) <= 0.05


def test_equivalence_holds_within_its_margin_alone() -> None:
    of = sample_claim(rule="equivalence", margin=0.05, number=None)
    row = Row("dsl", "", "quic/tcp+", None)
    assert judge_row(Estimate(0.01, -0.02, 0.04), region_of(of, row)) == "agrees"
    assert judge_row(Estimate(0.01, -0.02, 0.06), region_of(of, row)) == "cannot tell"
    assert judge_row(Estimate(0.09, 0.06, 0.12), region_of(of, row)) == "disagrees"


def test_changed_number_changes_the_verdict() -> None:
    found = Estimate(-0.09, -0.1, -0.08)
    assert judge_row(found, region_of(sample_claim(), ROW)) == "agrees"
    other = Row(*(ROW.network, ROW.metric, ROW.comparison), -0.3)
    assert judge_row(found, region_of(sample_claim(), other)) == "disagrees"


def test_sign_of_a_published_number() -> None:
    of = sample_claim(rule="sign")
    assert judge_row(Estimate(-0.2, -0.3, -0.1), region_of(of, ROW)) == "agrees"
    assert judge_row(Estimate(0.2, 0.1, 0.3), region_of(of, ROW)) == "disagrees"
    assert judge_row(Estimate(0.0, 0.0, 0.0), region_of(of, ROW)) == "cannot tell"


def test_claim_agrees_in_all_rows_or_not_at_all() -> None:
    assert judge_claim(["agrees", "agrees"], ["agrees", "agrees"], are_complete=True) == "agrees"
    assert judge_claim(["agrees"], ["agrees"], are_complete=False) == "cannot tell"
    mixed = ["agrees", "disagrees"]
    assert judge_claim(mixed, ["agrees", "cannot tell"], are_complete=True) == "cannot tell"  # type: ignore[arg-type]
    assert judge_claim(mixed, mixed, are_complete=False) == "disagrees"  # type: ignore[arg-type]
    assert judge_claim([], [], are_complete=False) == "not asked"


def test_many_true_rows_seldom_disagree() -> None:
    """One of twenty rows at 95 % would disagree in most studies."""
    draw = np.random.Generator(np.random.PCG64(3))
    of = sample_claim(rule="sign", sign="negative", number=None)
    region, rows, false = region_of(of, ROW), 20, 0
    for _ in range(200):
        found = []
        for _ in range(rows):
            gains = 0.05 * draw.standard_normal(12)
            found.append(judge_row(mean_of(gains).estimate(confidence_of(rows)), region))
        false += "disagrees" in found
    assert false / 200 <= 0.05


PAIRS = SitePairs(
    {
        f"site{k}": (np.array([90.0 + k, 92.0 + k]), np.array([100.0 + k, 104.0 + k]))
        for k in range(6)
    },
    limit_ms=60_000.0,
)


def test_mean_gain_is_the_arithmetic_mean_of_ratios() -> None:
    found = statistic_of("mean_gain", PAIRS, 0.0).estimate()
    ratios = [(91 + k - (102 + k)) / (102 + k) for k in range(6)]
    assert found.value == pytest.approx(np.mean(ratios))
    reach = 2.5705818 * np.std(ratios, ddof=1) / np.sqrt(6)
    assert found.low == pytest.approx(np.mean(ratios) - reach)


def test_residual_is_what_a_round_trip_leaves() -> None:
    found = statistic_of("residual_rtt", PAIRS, 22.0).estimate()
    assert found.value == pytest.approx(0.5)


def pairs_of(loads: dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]) -> SitePairs:
    return SitePairs(loads, PAIRS.limit_ms)


def test_change_of_medians_is_not_the_median_change() -> None:
    loads = dict(PAIRS.loads)
    loads["site0"] = (np.array([10.0]), np.array([1000.0]))
    found = statistic_of("median_change", pairs_of(loads), 0.0).estimate()
    own, reference = (np.median([each[side].mean() for each in loads.values()]) for side in (0, 1))
    assert found.value == pytest.approx((reference - own) / reference)
    assert found.low is not None and found.value is not None and found.low <= found.value


def test_quantile_is_over_all_loads() -> None:
    found = statistic_of("median_of_loads_change", PAIRS, 0.0)
    own, reference = (
        np.median(np.concatenate([each[side] for each in PAIRS.loads.values()])) for side in (0, 1)
    )
    assert found.value == pytest.approx((reference - own) / reference)


@pytest.mark.parametrize("estimator", ["median_change", "p95_change"])
def test_resampled_sites_seldom_call_equal_stacks_different(estimator: str) -> None:
    draw = np.random.Generator(np.random.PCG64(7))
    false = 0
    for _ in range(100):
        loads = {
            f"s{k}": tuple(np.exp(0.5 * k / 12 + 0.2 * draw.standard_normal((2, 3))))
            for k in range(12)
        }
        false += statistic_of(estimator, pairs_of(loads), 0.0).estimate().excludes_zero  # type: ignore[arg-type]
    assert false <= 8


def test_quantiles_are_the_same_of_sites_with_unequal_loads() -> None:
    draws = np.random.Generator(np.random.PCG64(2)).integers(0, 3, (20, 3))
    sites = [np.arange(4.0), 10 + np.arange(4.0), 3 * np.arange(4.0)]
    equal = _quantiles(sites, 95.0, draws)
    # A fourth site of another length, which is never drawn.
    assert _quantiles([*sites, np.zeros(1)], 95.0, draws).tolist() == equal.tolist()


def test_few_sites_bound_no_median_at_a_corrected_level() -> None:
    statistic = statistic_of("median_change", PAIRS, 0.0)
    assert statistic.estimate().determined
    assert not statistic.estimate(confidence_of(10)).determined


def test_spread_of_gains_is_without_the_noise_of_loads() -> None:
    draw = np.random.Generator(np.random.PCG64(5))
    noisy = {
        f"s{k}": (100 * np.exp(0.2 * draw.standard_normal(20)), 100 + draw.standard_normal(20))
        for k in range(40)
    }
    found = statistic_of("spread_of_gains", pairs_of(noisy), 0.0).value
    observed = np.std([(x.mean() - r.mean()) / r.mean() for x, r in noisy.values()], ddof=1)
    assert abs(found) < 0.7 * observed


def test_records_exchanged_turn_the_verdict_around() -> None:
    of = sample_claim(rule="sign", sign="negative", number=None)
    turned = pairs_of({site: (r, x) for site, (x, r) in PAIRS.loads.items()})
    verdict = [
        judge_row(statistic_of("mean_gain", pairs, 0.0).estimate(), region_of(of, ROW))
        for pairs in (PAIRS, turned)
    ]
    assert verdict == ["agrees", "disagrees"]


def test_order_is_of_neighbours_on_common_sites() -> None:
    small = {site: (r * 0.98, r) for site, (_, r) in PAIRS.loads.items()}
    large = {site: (r * 0.7, r) for site, (_, r) in PAIRS.loads.items() if site != "site0"}
    terms = [statistic_of("mean_gain", pairs_of(pairs), 0.0) for pairs in (small, large)]
    (step,) = compare_neighbours(terms, absolute=True)
    assert step.sites == tuple(f"site{k}" for k in range(1, 6))
    assert step.estimate().value == pytest.approx(0.28)
    (signed,) = compare_neighbours(terms, absolute=False)
    assert signed.value == pytest.approx(-0.28)


def test_share_counts_what_the_analysis_of_variance_calls_slower() -> None:
    slow = (np.array([200.0, 201.0, 202.0]), np.array([100.0, 101.0, 102.0]))
    alike = (np.array([100.0, 101.0, 102.0]), np.array([101.0, 100.0, 102.0]))
    late = (np.array([100.0, 101.0, np.inf]), np.array([101.0, 100.0, 102.0]))
    loads = {f"s{k}": slow if k < 2 else alike for k in range(8)} | {"late": late}
    found = estimate_share_of_sites("share_slower", pairs_of(loads))
    assert found.value == pytest.approx(0.25)
    assert found.low is not None and 0.0 < found.low < 0.25


def test_timeout_counts_as_its_limit_and_is_counted() -> None:
    loads = {f"s{k}": (np.array([100.0, np.inf]), np.array([100.0, 100.0])) for k in range(6)}
    pairs = SitePairs(loads, 300.0)
    assert pairs.timeouts_share == 0.5
    assert statistic_of("mean_gain", pairs, 0.0).value == pytest.approx(1.0)


def test_few_sites_have_no_interval() -> None:
    few = pairs_of(dict(list(PAIRS.loads.items())[:4]))
    assert not statistic_of("mean_gain", few, 0.0).estimate().determined


def test_words_of_a_population() -> None:
    assert word_verdict(sample_claim(), "agrees") == "holds for our sites too"
    assert word_verdict(sample_claim(scope="property"), "agrees") == "agrees"


def test_term_of_an_order_takes_what_it_lacks_from_the_row() -> None:
    of = sample_claim(
        rule="order",
        comparisons=(),
        number=None,
        terms=(Term("quic/tcp+"), Term("quic/tcp", "lte")),
    )
    (row,) = of.rows
    assert [(t.comparison, t.network) for t in of.terms_of(row)] == [
        ("quic/tcp+", "dsl"),
        ("quic/tcp", "lte"),
    ]
