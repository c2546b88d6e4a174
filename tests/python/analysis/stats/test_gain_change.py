import math

import numpy as np
import pytest
from scipy import stats

from eyelevel.analysis.stats.gain_change import gain_change
from eyelevel.analysis.stats.paired_gains import repetition_values
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence

LIMITS = [60.0, 60.0, 90.0]


def loads(seed, sites=3, repetitions=12, gain=0.9, level=1.0):
    """Values and the reference's of one run, and the sites' limits."""
    draw = np.random.Generator(np.random.PCG64(seed))
    x, r = np.exp(0.1 * draw.standard_normal((2, sites, repetitions)))
    return gain * level * x, level * r, LIMITS[:sites]


def test_it_is_welchs_t_of_the_repetitions_mean_log_ratios():
    before, now = loads(1), loads(2, repetitions=20, gain=0.8)
    found = gain_change(before, now, 0.99).change
    logs = [np.log(x / r).mean(axis=0) for x, r, _ in (now, before)]
    expected = stats.ttest_ind(*logs, equal_var=False)
    bounds = expected.confidence_interval(0.99)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.degrees_of_freedom == pytest.approx(expected.df)
    assert [found.low, found.high] == pytest.approx(
        [math.expm1(bounds.low), math.expm1(bounds.high)]
    )
    assert found.value == pytest.approx(math.exp(logs[0].mean() - logs[1].mean()) - 1)


def test_what_slows_both_stacks_of_a_run_cancels():
    before = loads(1)
    found, slower = (gain_change(before, loads(2, level=level)).change for level in (1.0, 1.3))
    assert [slower.value, slower.low, slower.high] == pytest.approx(
        [found.value, found.low, found.high]
    )


def test_both_gains_stand_beside_the_change():
    found = gain_change(loads(1, gain=0.9), loads(1, gain=0.81))
    assert (1 + found.now.value) / (1 + found.before.value) == pytest.approx(0.9)
    assert found.change.value == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (
            loads(1),
            (np.full(3, math.inf), np.ones(3), 9.0),
            "the later run: 3 of 3 loads did not finish",
        ),
        ((np.zeros(3), np.ones(3), 9.0), loads(1), "the earlier run: the runs show no spread"),
        (loads(1, repetitions=1), loads(2), "the earlier run: one block shows no spread"),
    ],
)
def test_a_run_without_a_gain_leaves_the_change_undetermined(before, now, reason):
    found = gain_change(before, now)
    assert found.change.reason.startswith(reason) and found.change.low is None
    assert found.blocks_to_decide(0.05) is None


def test_a_timeout_counts_as_its_sites_limit():
    before, now = loads(1), loads(2)
    late, limited = now[0].copy(), now[0].copy()
    late[2, 5], limited[2, 5] = math.inf, 90.0
    found, expected = (gain_change(before, (x, *now[1:])) for x in (late, limited))
    assert found.change == expected.change and found.change.determined
    assert [each.count for each in found.timeouts] == [0, 1]


def test_runs_that_may_have_stopped_are_no_further_apart_than_their_sequences():
    before, now = loads(1, repetitions=40), loads(2, repetitions=30, gain=0.8)
    now[0][1, 4] = math.nan  # its repetition counts for the other sites
    looks = Horizon(5, 60), Horizon(5, 40)
    found = gain_change(before, now, 0.98, looks).change
    logs = [repetition_values(np.log(x / r)) for x, r, _ in (before, now)]
    first, second = (
        confidence_sequence(each, 0.01, horizon) for each, horizon in zip(logs, looks, strict=True)
    )
    assert second.n == 30
    bounds = second.low - first.high, second.high - first.low
    assert [found.low, found.high] == pytest.approx([math.expm1(bound) for bound in bounds])
    fixed = gain_change(before, now, 0.98).change
    assert found.low < fixed.low < fixed.high < found.high and found.p is None


def test_so_many_blocks_as_it_says_decide_in_so_many_runs():
    pilot = gain_change(loads(1, 1, 200, 1.0), loads(2, 1, 200, 1.0))
    needed = pilot.blocks_to_decide(0.05, power=0.9)
    truth = pilot.change.value
    decided = [
        gain_change(loads(seed, 1, needed, 1.0), loads(1000 + seed, 1, needed, 1 + truth)).change
        for seed in range(10, 310)
    ]
    assert np.mean([each.high < 0.05 for each in decided]) == pytest.approx(0.9, abs=0.06)


def test_none_is_named_for_what_no_number_of_blocks_would_show():
    found = gain_change(loads(1, gain=1.0), loads(2, gain=1.0))
    assert found.blocks_to_decide(found.change.value) is None


def test_a_load_without_its_pair_counts_for_nothing():
    whole = loads(1)
    x, r, _ = whole

    def with_column(runs, value):
        return np.column_stack([runs, np.full(len(runs), value)])

    lone_r = with_column(r, math.nan)
    for horizons in (None, (Horizon(5, 60), Horizon(5, 60))):
        for value in (math.inf, 0.0, 5.0):
            lone = (with_column(x, value), lone_r, [math.inf] * 3)
            found = gain_change(lone, loads(2), horizons=horizons)
            assert found == gain_change((x, r, lone[2]), loads(2), horizons=horizons)


def test_a_run_that_may_have_stopped_needs_two_blocks_of_each_site():
    x, r, limits = loads(1)
    r[1, 1:] = math.nan
    looks = Horizon(5, 60), Horizon(5, 60)
    found = gain_change((x, r, limits), loads(2), horizons=looks)
    assert found.before.reason == "one block shows no spread"
