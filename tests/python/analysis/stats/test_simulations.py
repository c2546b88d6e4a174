"""The simulations of benchmarks/statistics, small: what the decision's tables say holds here."""

import math
import sys

import numpy as np
import pytest
from repository import ROOT
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.stats.gain_change import gain_change
from eyelevel.analysis.stats.paired_gains import mean_over_repetitions
from eyelevel.analysis.stats.pooled import (
    estimate_pooled_difference,
    estimate_pooled_log_gain,
    pool_of,
)
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence
from eyelevel.analysis.study import read_results

STUDIES = 2000


def error_of(studies):
    """Three standard errors of a share of 5 %."""
    return 3 * (0.05 * 0.95 / studies) ** 0.5


ERROR = error_of(STUDIES)


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    """As `python -m` has it there."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


def test_the_simulated_interval_is_the_reports():
    from benchmarks.statistics.intervals import over_repetitions

    d = np.random.Generator(np.random.PCG64(1)).normal(size=(3, 4, 6))
    d[1, 2, 3] = d[1, 1, :2] = np.nan
    for index, study in enumerate(d):
        found, expected = over_repetitions(d), mean_over_repetitions(study)
        answers = expected.value, expected.standard_error, expected.degrees_of_freedom
        assert [each[index] for each in found] == pytest.approx(answers)


@pytest.mark.parametrize("repetitions", [5, 31])
def test_no_cell_without_a_tail_in_one_stack_misses_more_than_it_may(repetitions):
    from benchmarks.statistics.intervals import SCENARIOS, simulate

    draw = np.random.Generator(np.random.PCG64(2))
    for scenario in SCENARIOS:
        cell = simulate(scenario, 10, repetitions, STUDIES, draw)
        assert 0.98 < cell.width < 1.15, scenario
        assert not scenario.both or cell.misses < 0.05 + ERROR, scenario
        if scenario.name == "no tail":
            assert cell.old_misses > 0.1  # errors of sites added in squares


def test_slow_loads_differ_by_neither_a_shift_nor_a_busy_minute():
    from benchmarks.statistics.slow_loads import SCENARIOS, found_share

    draw = np.random.Generator(np.random.PCG64(3))
    for scenario in SCENARIOS:
        shares = found_share(scenario, 10, 31, 150, draw)
        assert (shares[2] > 0.7) == (not scenario.both), scenario
        assert shares[2] < 0.1 or not scenario.both, scenario


def test_the_simulated_sequence_is_the_live_lines():
    from benchmarks.statistics.peeking import running, sequence_limits

    values = np.random.Generator(np.random.PCG64(4)).normal(size=40)
    mean, error = running(values)
    limits = sequence_limits(40, 0.0125)
    for n in range(1, 41):
        expected = confidence_sequence(values[:n], 0.0125, Horizon(5, 40))
        assert np.isfinite(limits[n - 1]) == expected.determined, n
        if expected.determined:
            assert mean[n - 1] + limits[n - 1] * error[n - 1] == pytest.approx(expected.high)
    assert np.isfinite(limits).any()


@pytest.mark.parametrize("tail", [False, True])
def test_who_ends_at_the_first_interval_is_misled_by_t_and_not_by_the_sequence(tail):
    from benchmarks.statistics.peeking import LOOKS_AT, peeked

    draw = np.random.Generator(np.random.PCG64(5))
    assert LOOKS_AT[:2] == (10, 31)
    by_t, by_sequence = peeked(1, tail, STUDIES, draw)
    assert by_t[0] > 0.08 and by_t[1] > 0.16
    assert by_sequence[-1] < 0.05 + ERROR
    by_t, by_sequence = peeked(4, tail, 400, draw)
    assert by_t[1] > 0.5 and by_sequence[-1] < 0.05 + ERROR


@pytest.mark.parametrize("tail", [False, True])
def test_where_nothing_differs_few_pages_say_faster_anywhere(tail):
    from benchmarks.statistics.peeking import coloured

    studies = 400
    page = coloured(10, tail, studies, np.random.Generator(np.random.PCG64(6)))
    assert page.gains_before > 0.9 and page.break_even_before > 0.4
    assert page.now < 0.05 + 3 * (0.05 * 0.95 / studies) ** 0.5


def test_the_simulated_change_of_a_gain_is_the_reports():
    from benchmarks.statistics.two_runs import Scenario, changes, loads

    logs = loads(Scenario(0.03), 4, 0.1, 2, np.random.Generator(np.random.PCG64(4)))
    found = changes(logs[:, :, :, :-1] - logs[:, :, :, -1:])
    low, high = found.bounds()
    for study, network, stack in ((0, 0, 0), (1, 0, 2), (1, 1, 1)):
        before, now = (np.exp(logs[study, run, network][[stack, -1]]) for run in (0, 1))
        expected = gain_change((*before, np.inf), (*now, np.inf), 1 - 0.05 / 6).change
        place = study, 3 * network + stack
        assert [np.expm1(found.value[place]), low[place], high[place]] == pytest.approx(
            [expected.value, expected.low, expected.high]
        )


@pytest.mark.parametrize("level", [0.03, 0.05])
def test_a_level_that_moves_from_run_to_run_fails_no_gain(level):
    from benchmarks.statistics.two_runs import LIMIT, Scenario, failed_as_it_was, simulate

    draw = np.random.Generator(np.random.PCG64(5))
    found = simulate(Scenario(level), 10, 0.1, 400, draw)
    assert (found.gains.bounds()[0] > LIMIT).any(axis=1).mean() < 0.05
    assert failed_as_it_was(found.times).any(axis=1).mean() > 0.15
    # What is assumed: that stacks move alike.
    apart = simulate(Scenario(level, own=0.03), 10, 0.1, 400, draw)
    assert (apart.gains.bounds()[0] > LIMIT).any(axis=1).mean() > 0.1


@pytest.mark.parametrize("change", [0.1, -0.1])
def test_a_gain_that_changed_by_twice_what_matters_does_not_agree(change):
    from benchmarks.statistics.two_runs import LIMIT, Scenario, simulate

    draw = np.random.Generator(np.random.PCG64(6))
    found = simulate(Scenario(0.03, change=change), 10, 0.03, 400, draw)
    low, high = (bound[:, 0] for bound in found.gains.bounds())
    assert ((low > -LIMIT) & (high < LIMIT)).mean() < 0.05
    assert ((low > LIMIT) | (high < -LIMIT)).mean() > 0.9


def test_timeouts_void_no_studys_interval():
    """At one in 1,000 loads a tenth of such studies had one, while a timeout left no mean."""
    from benchmarks.statistics.timeouts import simulate

    draw = np.random.Generator(np.random.PCG64(4))
    cell = simulate(0.001, True, (38, 31), 150, draw)
    assert cell.determined == 1 and cell.determined_before < 0.2
    assert cell.misses < 0.11 and cell.difference_misses < 0.11
    one = simulate(0.05, False, (10, 31), 150, draw)
    assert one.misses < 0.11 and one.difference_misses < 0.11 and one.counts_differ > 0.9
    assert simulate(0.3, True, (10, 10), 20, draw).determined == 0


def test_what_is_excluded_for_others_time_leaves_the_gain_right_and_what_networks_do_in_it():
    from benchmarks.statistics.exclusions import SCENARIOS, simulate

    draw = np.random.Generator(np.random.PCG64(5))
    for scenario in SCENARIOS:
        cell = simulate(scenario, 10, 31, 800, draw)
        truth = math.expm1(scenario.truth)
        unequal = scenario.by_others and len(set(scenario.times)) > 1
        unseen = unequal and not scenario.seen
        assert (abs(cell.gain - truth) > 0.005) == (cell.misses > 0.15) == unseen, scenario
        assert (abs(cell.gain_with_excluded - truth) > 0.01) == unequal, scenario
        assert (cell.misses_with_excluded > 0.15) == unequal, scenario
        assert (cell.excluded > 0.07) == (scenario.by_others and scenario.seen), scenario


@pytest.mark.parametrize(
    ("truth", "spread", "comparisons", "faster_min"),
    [(-0.15, 0.2, 2, 0.98), (-0.15, 0.2, 4, 0.97), (-0.20, 0.3, 2, 0.95), (-0.30, 0.3, 4, 0.99)],
)
def test_a_question_finds_what_is_there(truth, spread, comparisons, faster_min):
    from benchmarks.statistics.sequential import normal, simulate

    draw = np.random.Generator(np.random.PCG64(16))
    studies = 400
    cell = simulate(normal(truth, spread, draw), math.log1p(truth), comparisons, studies)
    assert cell.faster > faster_min
    assert cell.missed_at_stop <= cell.missed_ever < 0.05 + error_of(studies)


@pytest.mark.parametrize(("spread", "blocks_max"), [(0.1, 50), (0.2, 36), (0.3, 34)])
def test_a_question_about_equal_stacks_ends_early_and_claims_little(spread, blocks_max):
    from benchmarks.statistics.sequential import TAILS, normal, simulate, with_tail

    draw = np.random.Generator(np.random.PCG64(17))
    for comparisons in (1, 4):
        cell = simulate(normal(0.0, spread, draw), 0.0, comparisons, STUDIES // 4)
        error = error_of(STUDIES // 4)
        assert cell.faster < 0.025 + error and cell.missed_ever < 0.05 + error
        assert cell.false < 0.05 + error
        assert cell.blocks <= blocks_max
    for tail in TAILS:
        cell = simulate(with_tail(tail, spread, draw), tail.truth, 1, STUDIES // 4)
        assert not tail.both or cell.missed_ever < 0.05 + error


@pytest.mark.parametrize("spread", [0.05, 0.07])
@pytest.mark.parametrize("truth", [0.0, -0.03, -0.05, -0.08])
def test_a_question_ends_with_a_verdict_that_is_right(truth, spread):
    from benchmarks.statistics.sequential import normal, simulate

    draw = np.random.Generator(np.random.PCG64(20))
    studies = 1000
    cell = simulate(normal(truth, spread, draw), math.log1p(truth), 1, studies)
    assert cell.verdict >= 0.95
    assert cell.false < 0.05 + error_of(studies)


def test_a_real_runs_blocks_are_drawn_as_they_are(tmp_path):
    from benchmarks.statistics.sequential import SCALE, blocks_of, resampled, simulate

    text = """sites = ["startup"]
networks = ["lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 40
"""
    write_run(tmp_path, text=text, noise=0.05)
    blocks = blocks_of(tmp_path, metrics_of)
    cells = read_results(tmp_path, metrics_of).cells
    (cell,) = (each for each in cells if each.metric == "speed_index_ms")
    fifth = list(cell.loads[0]).index(5)
    ratio = cell.loads[1][fifth] / cell.loads[2][fifth]
    assert fifth > 4 and blocks[4] == pytest.approx(math.log(ratio))
    assert len(blocks) == 40 and blocks.mean() == pytest.approx(math.log(0.86), abs=0.03)
    draw = np.random.Generator(np.random.PCG64(18))
    values = resampled(blocks, SCALE, draw)((50, 60))
    assert set(np.unique(values)) <= set(blocks + math.log(SCALE))
    cell = simulate(resampled(blocks, SCALE, draw), math.log(SCALE) + blocks.mean(), 2, 100)
    assert cell.faster == 1.0


def test_blocks_in_a_row_keep_their_order():
    from benchmarks.statistics.sequential import in_a_row

    draw = np.random.Generator(np.random.PCG64(19))
    rows = in_a_row(np.arange(70.0), 1.0, draw)((200, 60))
    assert (np.diff(rows) == 1).all() and set(rows[:, 0]) == set(range(11))


@pytest.mark.parametrize("like", [False, True])
def test_a_gate_at_the_blocks_that_are_named_passes_equal_stacks_and_not_twice_the_limit(like):
    from benchmarks.statistics.gate import Loads, families_passed

    studies = 60  # asked are 90 % and at most 5 %
    _, equal = families_passed(Loads(0.1), 0.5, 0.1, 1, like, 0.0, studies)
    _, twice = families_passed(Loads(0.1), 0.5, 0.1, 1, like, 0.2, studies)
    assert equal >= 0.85 and twice <= 0.05


def test_a_gate_that_cannot_see_passes_no_regression():
    from benchmarks.statistics.gate import Loads, statuses

    found = statuses(Loads(0.3), 10, 0.1, 0.05, 60)
    assert found["passed"] <= 3 and found["inconclusive"] >= 45


def test_a_gate_of_the_gain_sees_more_than_that_of_a_median_and_is_as_seldom_wrong():
    from benchmarks.statistics.gate import Loads, families_passed, missed, statuses

    studies = 200
    named, equal = families_passed(Loads(0.1), None, 0.1, 1, True, 0.0, studies)
    _, twice = families_passed(Loads(0.1), None, 0.1, 1, True, 0.2, studies)
    of_median, _ = families_passed(Loads(0.1), 0.5, 0.1, 1, True, 0.0, 10)
    assert equal >= 0.85 and twice <= 0.05 and of_median / named > 1.5
    seen, of_median_seen = (
        statuses(Loads(0.1), 10, 0.2, 0.05, studies, share)["failed"] for share in (None, 0.5)
    )
    assert seen > 1.3 * of_median_seen
    for loads in (Loads(0.2), Loads(0.05, modes=1.5), Loads(0.2, 4, 0.3)):
        assert missed(loads, 10, None, 0.95, 400) < 0.05 + error_of(400)


@pytest.mark.parametrize("comparisons", [1, 4])
def test_a_gate_of_a_study_that_may_stop_is_seldom_wrong_and_passes_equal_stacks(comparisons):
    from benchmarks.statistics.gate import stopped

    studies = 1000
    for slower in (0.0499, 0.05, 0.1):
        found = stopped(0.05, slower, 0.05, comparisons, studies)
        assert found.wrong < 0.05 + error_of(studies), slower
    assert stopped(0.05, 0.0, 0.05, comparisons, studies).passed > 0.95
    assert stopped(0.05, 0.15, 0.05, comparisons, studies).failed > 0.5


def test_lost_loads_cost_a_gain_little_more_than_their_pairs():
    from benchmarks.statistics.lost_blocks import simulate

    cell = simulate(0.03, (38, 31), 60, np.random.Generator(np.random.PCG64(8)))
    assert cell.pairs > 0.93 and cell.pairs_of_whole_blocks < 0.88
    assert cell.used > 0.9 and cell.used_whole < 0.3


def test_a_quarter_of_loads_unfinished_against_none_differs_in_ten_repetitions():
    from benchmarks.statistics.lost_objects import simulate

    draw = np.random.Generator(np.random.PCG64(9))
    cell = simulate((0.25, 0.0), 1, 10, 100, draw)
    assert min(cell.fixed, cell.sequential) > 0.8
    equal = simulate((0.1, 0.1), 2, 10, 200, draw, bad=0.5)
    assert max(equal.claims_fixed, equal.claims_sequential) < 0.1


def test_a_stack_gains_nothing_by_losing_objects():
    from benchmarks.statistics.lost_objects import RULES, say_by_rule

    draw = np.random.Generator(np.random.PCG64(10))
    out, believed, censored = (say_by_rule(rule, 31, 60, draw) for rule in RULES)
    assert censored.faster == 0 and censored.worse > 0.95
    # The simulation can see a bias: that of the rules that were.
    assert out.gain < -0.03 and believed.gain < -0.06 and min(out.faster, believed.faster) > 0.5


def test_no_stack_gains_from_what_disturbs_its_loads_and_how_often_they_are_flagged():
    """Equal stacks, one flagged twice as often: disturbances of one load and of one block."""
    from benchmarks.statistics.disturbances import SCENARIOS, WAYS, simulate

    flagged_twice, only_one, _ = SCENARIOS
    for scenario in (flagged_twice, only_one):
        for lasts in ("one load", "one block"):
            for seen in (True, False):
                now = simulate(scenario, lasts, WAYS["whole blocks"], seen=seen)
                assert abs(now.gain) <= 0.005, (scenario.name, lasts, seen)
                assert (now.excluded > 0.15) == seen
    # The simulation can see a bias: that of the rules that were.
    for way in ("alone again", "own pressure"):
        assert simulate(flagged_twice, "one load", WAYS[way], seen=True).gain < -0.01
        assert simulate(only_one, "one load", WAYS[way], seen=True).gain < -0.03


def test_the_simulated_pooled_error_is_the_reports():
    from benchmarks.statistics.pooled import SCENARIOS, logs_of, reaches_of

    draw = np.random.Generator(np.random.PCG64(10))
    for stacks, blocks in ((3, 3), (4, 5), (6, 2)):
        logs = logs_of(SCENARIOS[-3], stacks, blocks, 2, draw)
        gains, (alone, _, moderated) = reaches_of(logs.mean(axis=2), 2)
        for place, study in enumerate(logs):
            named = dict(zip("abcdef", study, strict=False))
            pair = np.exp(named["c"]), np.exp(named["a"])
            found, own = (estimate_pooled_log_gain(*pair, each) for each in (pool_of(named), None))
            assert found.value == pytest.approx(gains[place])
            assert found.high - found.value == pytest.approx(moderated[place])
            assert own.high - own.value == pytest.approx(alone[place])


@pytest.mark.parametrize("stacks", [3, 4, 6])
def test_three_blocks_with_a_pooled_error_have_a_quarter_less_width_and_miss_no_more(stacks):
    from benchmarks.statistics.pooled import SCENARIOS, simulate

    draw = np.random.Generator(np.random.PCG64(11))
    for scenario in SCENARIOS:
        for blocks in (3, 10):
            cell = simulate(scenario, stacks, blocks, 4000, draw)
            may_miss = 0.06 if scenario.noisier is None else 0.07
            # The worst of all comparisons, and a standard error and a half.
            assert cell.misses[2] < may_miss + 0.006, (scenario.name, blocks)
            assert blocks > 3 or cell.widths[2] < 0.75, scenario.name
    if stacks == 6:  # the error of the block design itself would not do
        assert cell.misses[1] > 0.08


def test_the_simulated_difference_in_ms_is_the_reports():
    from benchmarks.statistics.pooled import MS_SCENARIOS, logs_of, ms_intervals_of

    draw = np.random.Generator(np.random.PCG64(13))
    levels = np.array([300.0, 900.0, 1000.0, 2500.0])
    for stacks, blocks in ((3, 3), (4, 5)):
        logs = logs_of(MS_SCENARIOS[1].scenario, stacks, blocks, 2, draw)
        values, bounds, _ = ms_intervals_of(logs, levels, 1)
        for place, study in enumerate(logs):
            times = levels[:, None] * np.exp(study)
            pool = pool_of(dict(zip("abcd", np.log(times), strict=False)))
            found = (estimate_pooled_difference(times[1], times[0], each) for each in (None, pool))
            for way, estimate in enumerate(found):
                assert estimate.value == pytest.approx(values[place])
                assert [estimate.low, estimate.high] == pytest.approx(bounds[way, :, place])


def test_the_difference_in_ms_covers_and_agrees_with_the_gain():
    from benchmarks.statistics.pooled import MS_SCENARIOS, simulate_ms

    draw = np.random.Generator(np.random.PCG64(14))
    for sites in MS_SCENARIOS:
        for blocks, gain in ((3, -0.08), (10, 0.0), (31, -0.08)):
            cell = simulate_ms(sites, blocks, gain, 4000, draw)
            may_miss = 0.06 if sites.scenario.noisier is None else 0.07
            # A standard error and a half.
            assert cell.misses[1] < may_miss + 0.006, (sites, blocks)
            assert cell.agreed_misses <= cell.misses[1]
            if blocks == 3 and sites.slowest == 1:
                assert cell.widths[1] < 0.75 and cell.disagree[1] < 0.03 < cell.disagree[0], sites
        if sites.without_gain:  # the gain's interval in ms is that of another question
            assert cell.misses[2] > 0.1


@pytest.mark.parametrize("blocks", [3, 10, 31])
@pytest.mark.parametrize("comparisons", [1, 2, 4, 8])
def test_what_is_called_the_smallest_difference_is_found_four_times_in_five(blocks, comparisons):
    from benchmarks.statistics.sensitivity import simulate

    draw = np.random.Generator(np.random.PCG64(12))
    for sites in (2, 10):
        cell = simulate(blocks, comparisons, sites, 3000, draw)
        assert 0.75 < cell.power < 0.85, sites
        low, high = cell.stated
        assert low < 1 < high and cell.overstated > 0


@pytest.mark.parametrize("family", [(2, 1), (5, 2)])
@pytest.mark.parametrize("skewed", [False, True])
def test_a_drift_that_is_not_there_is_seldom_warned_of(family, skewed):
    from benchmarks.statistics.drift import simulate

    draw = np.random.Generator(np.random.PCG64(13))
    for blocks in (5, 10, 31):
        cell = simulate(blocks, family, 0.0, 800, draw, skewed=skewed)
        assert cell.warned < 0.05 + error_of(800), blocks
        assert cell.held > 0.95 - error_of(800), blocks


def test_a_drift_is_noticed_as_seldom_as_it_is_said_and_does_harm_unseen():
    from benchmarks.statistics.drift import simulate, warned_at_stop

    draw = np.random.Generator(np.random.PCG64(14))
    for blocks in (10, 60):
        cell = simulate(blocks, (2, 1), 0.3, 1000, draw)
        assert cell.warned == pytest.approx(cell.stated, abs=0.04)
        assert cell.claimed > 0.1
    assert warned_at_stop(0.05, -0.05, 800, draw) < 0.05 + error_of(800)
