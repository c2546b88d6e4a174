import math
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from eyelevel.analysis.gains import sequential
from eyelevel.analysis.gains.cells import NetworkGain, compare_cells, network_gains, weight_gains
from eyelevel.analysis.gains.sequential import (
    GAINS_LEVEL,
    TIMEOUTS_SHARE,
    comparison_states,
    estimate_blocks_needed,
    sequential_gains,
)
from eyelevel.analysis.stats.censoring import sign_sequence_p
from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence
from eyelevel.analysis.stats.stopping_rule import Rule
from eyelevel.plan.comparisons import Comparison

LOOKS = Horizon(5, 60)


def table(repetitions, quic=0.8, noise=0.02, sites=("a", "b")):
    draw = np.random.Generator(np.random.PCG64(3))
    rows = [
        (site, "dsl", stack, repetition, "ok", 1000.0 * speed * math.exp(noise * draw.normal()))
        for repetition in range(1, repetitions + 1)
        for site in sites
        for stack, speed in (("tcp", 1.0), ("quic", quic))
    ]
    names = ["site", "network", "stack", "repetition", "outcome", "speed_ms"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(limit_ms=pl.lit(5000.0))


def gains(kept, sites=("a", "b")):
    return sequential_gains(kept, "speed_ms", [Comparison("quic", "tcp")], ["dsl"], sites, LOOKS)


def rule(smallest_effect=0.05, **changed):
    return Rule(smallest_effect, GAINS_LEVEL, LOOKS, **changed)


def states(found, repetitions=40, smallest_effect=0.05, **changed):
    given = rule(smallest_effect, **changed)
    return [each.state for each in comparison_states(found, given, 12, repetitions)]


def test_the_gain_is_found_and_the_study_may_stop():
    (found,) = gains(table(12))
    assert found.gain.low < -0.2 < found.gain.high and found.p_holm < 0.001
    assert states([found]) == ["clear sign"]
    (state,) = comparison_states([found], rule(), 12, 40)
    assert state.repetition == 12 and state.width == found.gain.high - found.gain.low


def test_many_comparisons_take_one_pass_and_each_is_as_if_it_were_alone(monkeypatch):
    passes, with_timeouts = [], sequential.with_timeouts
    monkeypatch.setattr(
        sequential, "with_timeouts", lambda name: passes.append(name) or with_timeouts(name)
    )
    bbr = table(12, quic=0.9).filter(stack="quic").with_columns(stack=pl.lit("bbr"))
    dsl = pl.concat([table(12), bbr])
    kept = pl.concat([dsl, dsl.with_columns(pl.col("speed_ms") * 1.3, network=pl.lit("lte"))])
    asked = [Comparison("quic", "tcp"), Comparison("quic", "bbr")]
    # A third network has no loads.
    networks = ["lte", "dsl", "none"]
    found = sequential_gains(kept, "speed_ms", asked, networks, ("a", "b"), LOOKS)
    assert len(passes) == 2, "of the stack, and of its reference"
    assert [(each.network, each.comparison) for each in found] == list(product(networks, asked))
    for each in found:
        own = kept.filter(network=each.network)
        alone_asked = [each.comparison], [each.network], ("a", "b")
        (alone,) = sequential_gains(own, "speed_ms", *alone_asked, LOOKS)
        assert (each.gain.value, each.median) == (alone.gain.value, alone.median)
        assert each.timeouts == alone.timeouts and (each.gain.value is None) == (not own.height)


def test_the_median_stands_beside_it_and_a_sign_that_it_has_not_is_not_clear():
    (found,) = gains(table(12, noise=0.0001))
    assert found.median.value == pytest.approx(-0.2, abs=1e-3) and found.median.low is None
    against = replace(found, median=undetermined("", 12, 0.01))
    assert states([against]) == ["open"]


def test_no_difference_that_matters_is_an_end_too_and_may_have_a_sign():
    alike = gains(table(12, quic=1.0))
    assert states(alike) == ["no difference that matters"]
    small = gains(table(12, quic=0.98, noise=0.005))
    assert states(small) == ["clear sign, less than matters"]


def test_one_sided_bounds_have_the_comparisons_level_and_lie_within_its_interval():
    kept = table(20, quic=0.97)
    asked = [Comparison("quic", "tcp")], ["dsl", "lte"], ("a", "b")
    found = sequential_gains(kept, "speed_ms", *asked, LOOKS)[0]
    ratios = np.log(
        kept.filter(stack="quic")["speed_ms"].to_numpy()
        / kept.filter(stack="tcp")["speed_ms"].to_numpy()
    )
    values = ratios.reshape(20, 2).mean(axis=1)
    expected = confidence_sequence(values, GAINS_LEVEL / 2, LOOKS, one_sided=True)
    assert [found.one_sided.low, found.one_sided.high] == pytest.approx(
        [math.expm1(expected.low), math.expm1(expected.high)]
    )
    assert found.gain.low < found.one_sided.low < found.one_sided.high < found.gain.high


def test_what_no_block_can_show_is_futile_unless_one_wants_to_go_on():
    found = gains(table(12, quic=1.0, noise=0.5))
    assert states(found, 20) == ["futile"] and states(found, 20, futility=False) == ["open"]


def test_the_blocks_that_would_decide_it():
    (found,) = gains(table(12, quic=0.97, noise=0.06))
    assert states([found]) == ["open"]
    needed = estimate_blocks_needed(found, rule())
    assert 12 < needed < 200
    # What matters less is shown later, and nothing smaller than what chance leaves.
    assert estimate_blocks_needed(found, rule(0.02)) >= needed
    (hopeless,) = gains(table(12, quic=1.0, noise=0.8))
    assert estimate_blocks_needed(hopeless, rule(0.01)) is None
    assert estimate_blocks_needed(gains(table(1))[0], rule()) is None


@pytest.mark.parametrize("noise", [3.0, 100.0])
def test_an_interval_that_rules_nothing_out_is_no_fault(noise):
    looks, comparisons = Horizon(2, 2), [Comparison("quic", "tcp")]
    noisy = table(2, quic=1.0, noise=noise)
    (found,) = sequential_gains(noisy, "speed_ms", comparisons, ["dsl"], ("a", "b"), looks)
    assert found.gain.low == -1.0 and found.gain.high > 1e20
    given = replace(rule(), horizon=looks)
    assert estimate_blocks_needed(found, given) is None
    (state,) = comparison_states([found], given, 2, 2)
    assert state.width == found.gain.high + 1 and state.state == "open"


def test_a_repetition_that_lost_a_site_counts_centred_by_site():
    kept = table(12)
    slow = pl.when(pl.col("site") == "b", pl.col("stack") == "quic").then(1.5).otherwise(1.0)
    kept = kept.with_columns(pl.col("speed_ms") * slow)  # sites whose gains differ
    lost = (pl.col("site") == "b") & (pl.col("repetition") == 3) & (pl.col("stack") == "tcp")
    (whole,), (lacking,) = gains(kept), gains(kept.filter(~lost))
    assert lacking.gain.n == 12 and lacking.timeouts.pairs == 23
    width, before = (each.gain.high - each.gain.low for each in (lacking, whole))
    assert width < 1.2 * before, "the plain mean of what is left would take the sites' difference"
    (cell_a, cell_b) = compare_cells(
        kept.filter(~lost).with_columns(block=pl.concat_str("site", "repetition")),
        ["speed_ms"],
        [Comparison("quic", "tcp")],
    )
    (fixed,) = network_gains([cell_a, cell_b], ["a", "b"])
    assert lacking.gain.value == pytest.approx(fixed.gain.value)
    assert gains(kept, ("a", "b", "c"))[0].gain.reason == "no complete block is left"


def test_a_site_of_one_block_is_named_and_counts_as_much_as_others():
    kept = table(12)
    slow = pl.when(pl.col("site") == "b", pl.col("stack") == "quic").then(1.5).otherwise(1.0)
    kept = kept.with_columns(pl.col("speed_ms") * slow)
    (whole,) = gains(kept)
    (found,) = gains(kept.filter((pl.col("site") == "a") | (pl.col("repetition") == 1)))
    assert found.gain.reason == "one block of b shows no spread"
    assert found.gain.value == pytest.approx(whole.gain.value, abs=0.03)
    assert gains(table(1))[0].gain.reason == "one block shows no spread"


def test_unfinished_loads_of_one_stack_decide_a_comparison():
    (found,) = gains(late(table(40), *range(1, 10)))
    assert found.timeouts.p == sign_sequence_p(9, 0) and found.timeouts_differ
    assert found.p_timeouts_holm == pytest.approx(found.timeouts.p / TIMEOUTS_SHARE)
    assert states([found]) == ["loads unfinished"]
    (found,) = gains(late(table(40), *range(1, 9)))
    assert not found.timeouts_differ


def late(kept, *repetitions):
    timed_out = pl.col("repetition").is_in(repetitions) & (pl.col("stack") == "quic")
    return kept.with_columns(
        outcome=pl.when(timed_out).then(pl.lit("timeout")).otherwise("outcome")
    )


def test_a_timeout_counts_as_its_limit():
    (found,) = gains(late(table(12), 2))
    limited = pl.when(pl.col("repetition") == 2, pl.col("stack") == "quic").then(5000.0)
    (expected,) = gains(table(12).with_columns(speed_ms=limited.otherwise("speed_ms")))
    assert found.gain == expected.gain and found.gain.determined
    assert (found.timeouts.count, found.timeouts.pairs) == (2, 24)


def test_a_timeout_spreads_the_values_and_is_no_futility():
    (found,) = gains(late(table(20, quic=1.0, noise=0.3), 2))
    (alike,) = comparison_states([replace(found, timeouts=None)], rule(), 20, 30)
    (state,) = comparison_states([found], rule(), 20, 30)
    assert (alike.state, state.state) == ("futile", "open")


def test_too_many_timeouts_leave_no_gain_as_in_a_study_of_a_fixed_length():
    (found,) = gains(late(table(12), 1, 2, 3))
    assert found.gain.value is None and "6 of 24 loads did not finish" in found.gain.reason
    assert states([found]) == ["open"]
    assert gains(late(table(15), 1, 2, 3))[0].gain.determined


def test_a_value_of_zero_counts_in_arithmetic_means_and_is_no_timeout():
    for stacks in (["quic"], ["tcp"], ["tcp", "quic"]):
        zero = table(12).with_columns(
            speed_ms=pl.when(pl.col("repetition") == 2, pl.col("stack").is_in(stacks))
            .then(0.0)
            .otherwise("speed_ms")
        )
        (found,) = gains(zero)
        of_stack, reference = (
            zero.filter(stack=name)["speed_ms"].mean() for name in (found.stack, found.reference)
        )
        assert found.gain.value == pytest.approx(of_stack / reference - 1, rel=1e-3)
        assert found.gain.n == 12 and found.gain.low is not None and not found.timeouts.any


def test_networks_count_by_their_weights():
    found = [
        NetworkGain("dsl", "quic", "tcp", "speed", Estimate(-0.1, -0.2, 0, 0.01, 0.03, 10, 5)),
        NetworkGain("lte", "quic", "tcp", "speed", Estimate(-0.3, -0.4, -0.2, 0.01, 0.04, 10, 5)),
    ]
    overall = weight_gains(found, {"dsl": 3, "lte": 1})
    assert overall.value == pytest.approx(-0.15)
    assert overall.standard_error == pytest.approx(math.hypot(0.75 * 0.03, 0.25 * 0.04))
    lacking = [
        found[0],
        NetworkGain("lte", "quic", "tcp", "speed", undetermined("a load timed out")),
    ]
    assert weight_gains(lacking, {"dsl": 3, "lte": 1}).reason == "lte: a load timed out"


def test_bounds_that_hold_together_are_weighted_as_they_are():
    found = [
        NetworkGain("dsl", "quic", "tcp", "speed", Estimate(-0.1, -0.2, 0, 0.01, None, 10, 5)),
        NetworkGain("lte", "quic", "tcp", "speed", Estimate(-0.3, -0.4, -0.2, 0.01, None, 10, 5)),
    ]
    overall = weight_gains(found, {"dsl": 3, "lte": 1})
    assert (overall.value, overall.low, overall.high) == pytest.approx((-0.15, -0.25, -0.05))
    open_end = [
        found[0],
        NetworkGain("lte", "quic", "tcp", "speed", undetermined("too few", 2, -0.1)),
    ]
    assert weight_gains(open_end, {"dsl": 3, "lte": 1}).low is None


def test_a_network_with_a_weight_and_without_a_gain_leaves_no_mean():
    found = [NetworkGain("dsl", "quic", "tcp", "speed", Estimate(-0.1, -0.2, 0, 0.01, 0.03, 10, 5))]
    overall = weight_gains(found, {"dsl": 1, "lte": 99})
    assert overall.value is None and overall.reason == "lte: no complete block is left"


def test_the_network_that_lacks_an_interval_is_blamed_and_not_another():
    sound = NetworkGain("dsl", "quic", "tcp", "speed", Estimate(-0.1, -0.2, 0, 0.01, None, 10, 5))
    late = NetworkGain("lte", "quic", "tcp", "speed", undetermined("a load timed out", 5))
    assert weight_gains([sound, late], {"dsl": 1, "lte": 1}).reason == "lte: a load timed out"
    lost = NetworkGain("3g", "quic", "tcp", "speed", undetermined("no complete block is left"))
    both = weight_gains([sound, late, lost], {"dsl": 1, "lte": 1, "3g": 1})
    assert both.reason == "lte: a load timed out; 3g: no complete block is left"
