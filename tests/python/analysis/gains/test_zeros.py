"""Times that may be 0, such as blocking times: a verdict by the ratio of arithmetic means."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from eyelevel.analysis import answers
from eyelevel.analysis.answers import answer
from eyelevel.analysis.claims import verdict
from eyelevel.analysis.decisions import make_decided_gains
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.against_itself import against_itself
from eyelevel.analysis.gains.cells import compare_cells, compare_networks
from eyelevel.analysis.gains.margins import LOG_SHARE_MAX, with_margins
from eyelevel.analysis.gains.sequential import sequential_gains
from eyelevel.analysis.stats.paired_gains import ZERO_SHARE, pair_log_ratios
from eyelevel.analysis.stats.quantile_gain import compute_bounded_gain
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.parse import parse_plan

METRIC = "total_blocking_time_ms"
ASKED = Comparison("pr/quic", "main/quic")
BLOCKS = 40
HORIZON = Horizon(6, BLOCKS)


def kept_of(main: np.ndarray, pr: np.ndarray) -> pl.DataFrame:
    """Kept loads of one site with these values."""
    rows = [
        ("dsl", "startup", stack, f"startup/dsl/{block}", block, float(value), "ok", 180_000.0)
        for stack, values in (("main/quic", main), ("pr/quic", pr))
        for block, value in enumerate(values, start=1)
    ]
    names = ["network", "site", "stack", "block", "repetition", METRIC, "outcome", "limit_ms"]
    return pl.DataFrame(rows, schema=names, orient="row")


def blocking_ms(seed: int, more_ms: float = 0.0) -> np.ndarray:
    """Blocking times of which about half are 0."""
    drawn = np.random.Generator(np.random.PCG64(seed)).normal(0.0, 20.0, BLOCKS)
    return np.maximum(drawn, 0.0) + more_ms


def estimate_sequentially(kept: pl.DataFrame, least_ms: float | None = None):
    gains = sequential_gains(kept, METRIC, [ASKED], ["dsl"], ["startup"], HORIZON)
    (gain,) = with_margins(gains, kept, METRIC, least_ms)
    return gain


def estimate_in_the_end(kept: pl.DataFrame):
    cells = compare_cells(kept, [METRIC], [ASKED])
    (gain,) = compare_networks(cells, METRIC, ["startup"])
    return gain


@pytest.mark.parametrize("estimate", [estimate_sequentially, estimate_in_the_end])
def test_the_gain_is_that_of_the_arithmetic_means(estimate) -> None:
    main, pr = blocking_ms(1), blocking_ms(2, more_ms=30.0)
    assert (main == 0).sum() > BLOCKS // 4
    gain = estimate(kept_of(main, pr))
    assert gain.gain.value == pytest.approx(pr.mean() / main.mean() - 1)
    assert verdict(gain, 0.02) == "slower"
    back = estimate(kept_of(pr, main))
    assert verdict(back, 0.02) == "faster"
    assert math.log1p(back.gain.value) == pytest.approx(-math.log1p(gain.gain.value))


def test_a_gate_decides_it_too() -> None:
    main, pr = blocking_ms(1), blocking_ms(2, more_ms=30.0)
    loads = pr[None, :], main[None, :], [math.inf]
    for horizon in (None, HORIZON):
        gain, _ = compute_bounded_gain(loads, 0.95, horizon)
        assert gain.value == pytest.approx(pr.mean() / main.mean() - 1) and gain.low > 0.05


def test_without_a_zero_each_pair_has_its_ratio() -> None:
    x, r = np.array([2.0, 3.0, np.nan]), np.array([1.0, 4.0, 5.0])
    found = pair_log_ratios(x, r)[0]
    assert found[:2] == pytest.approx(np.log([2.0, 0.75])) and np.isnan(found[2])


def test_a_mean_of_zero_is_99_percent_less_and_no_value_no_difference() -> None:
    x, r = np.zeros(10), np.full(10, 50.0)
    less = math.expm1(pair_log_ratios(x, r).mean())
    assert ZERO_SHARE / 2 < 1 + less < ZERO_SHARE * 1.1
    assert (pair_log_ratios(x, x) == 0).all()


def test_ten_ms_of_blocking_are_ten_ms_whatever_the_mean() -> None:
    """Alike by the margin is what differences of less than 10 ms are, on the margin's own scale."""
    main, pr = blocking_ms(3), blocking_ms(4)
    gain = estimate_sequentially(kept_of(main, pr), least_ms=10.0)
    scale = (pr.mean() - main.mean()) / math.log(pr.mean() / main.mean())
    assert gain.least_share == pytest.approx(math.expm1(10.0 / scale))
    assert verdict(gain, 0.02) == "no difference that matters"
    assert (
        verdict(estimate_sequentially(kept_of(main, pr), least_ms=2.0), 0.02)
        == "no clear difference"
    )
    tiny = estimate_sequentially(kept_of(main / 100, pr / 100), least_ms=10.0)
    assert tiny.least_share == pytest.approx(math.expm1(LOG_SHARE_MAX))


def rare_ms(often: int, size_ms: float) -> np.ndarray:
    """Blocking times that are 0 but in every `often`th load; their sizes differ."""
    block = np.arange(BLOCKS)
    return np.where(block % often == 0, size_ms * (1 + block % 7 / 10), 0.0)


@pytest.mark.parametrize("estimate", [estimate_sequentially, estimate_in_the_end])
def test_where_nearly_all_loads_have_0_the_difference_is_said_in_ms_alone(estimate) -> None:
    main, pr = rare_ms(20, 1.0), rare_ms(5, 40.0)
    gain = estimate(kept_of(main, pr))
    assert gain.is_absolute and gain.gain.value > 10
    assert gain.difference.value == pytest.approx((pr - main).mean())
    assert gain.difference.low < gain.difference.value < gain.difference.high
    low, high = (bound < 0 for bound in (gain.difference.low, gain.difference.high))
    assert (low == high) == gain.gain.excludes_zero, "the interval is that of the verdict"
    (said, *_) = map(str, answer([gain], METRIC, 1, 0.02))
    assert f"slower than main/quic by 10{NO_BREAK}ms (" in said
    assert "%" not in said.replace(f"95{NO_BREAK}%", "")
    assert "%" not in answers._describe_sizes([gain, gain]) + answers._describe_range([gain, gain])


def test_a_study_that_may_stop_early_has_an_interval_in_ms_that_allows_for_that() -> None:
    text = (
        'sites = ["startup"]\nnetworks = ["dsl"]\nstacks = ["quic"]\nreference = "main"\n'
        'variants = [{ name = "main" }, { name = "pr" }]\n'
        f'primary_metric = "{METRIC}"\nblocks = {BLOCKS}\nstop = {{ blocks_min = 6 }}\n'
    )
    plan = parse_plan(text, "plan.toml")
    kept = kept_of(rare_ms(20, 1.0), rare_ms(5, 40.0))
    fixed = estimate_in_the_end(kept)
    (gain,) = make_decided_gains([fixed], plan, ["startup"], None, lambda last: kept)
    assert gain.difference.value == pytest.approx(fixed.difference.value)
    assert gain.difference.low < fixed.difference.low
    assert gain.difference.high > fixed.difference.high


def test_where_fewer_loads_have_0_it_is_said_as_a_share_too() -> None:
    gain = estimate_in_the_end(kept_of(blocking_ms(1), blocking_ms(2)))
    assert not gain.is_absolute
    assert "%" in answers._describe_sizes([gain])


def test_the_smallest_effect_of_interest_is_in_ms_where_the_difference_is() -> None:
    main = rare_ms(5, 10.0)
    pr = np.roll(main, 1)
    gain = estimate_sequentially(kept_of(main, pr), least_ms=10.0)
    assert verdict(gain, 0.02) == "no difference that matters"
    (said, *_) = map(str, answer([gain], METRIC, 1, 0.02))
    assert f"did not differ by 10{NO_BREAK}ms or more: " in said
    mixed = [gain, replace(gain, zero_scale=0.0, least_share=0.03)]
    assert answers._format_effect(mixed, 0.02) == f"3.0{NO_BREAK}% or 10{NO_BREAK}ms"


def test_a_variant_with_0_in_nearly_all_loads_has_no_share_against_itself() -> None:
    kept = kept_of(rare_ms(5, 40.0), blocking_ms(2))
    rare, usual = against_itself(kept, METRIC, [ASKED], ["dsl"], ["startup"])
    assert (rare.reach, rare.undetermined_because) == (None, "0 in nearly all loads")
    assert usual.reach is not None


def test_nothing_claimed_where_nothing_differs() -> None:
    claims = [
        verdict(estimate_sequentially(kept_of(blocking_ms(seed), blocking_ms(seed + 1000))), 0.02)
        for seed in range(300)
    ]
    assert sum(each in ("faster", "slower") for each in claims) <= 15


def test_a_variant_against_itself_has_a_reach() -> None:
    kept = kept_of(blocking_ms(1), blocking_ms(2))
    found = against_itself(kept, METRIC, [ASKED], ["dsl"], ["startup"])
    assert [each.stack for each in found] == ["main/quic", "pr/quic"]
    assert all(each.reach is not None and each.reach > 0.05 for each in found)
