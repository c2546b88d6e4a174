"""Which loads a gain's error is pooled over, from a run's records to its answers."""

from itertools import product

import numpy as np
import pytest
from synthetic_run import SITES, read_run

from eyelevel.analysis.gains.cells import pools_of
from eyelevel.analysis.gate import evaluate, parse_condition
from eyelevel.analysis.stats.pooled import (
    beside_gain,
    estimate_pooled_difference,
    estimate_pooled_gain,
    pool_of,
)
from eyelevel.analysis.time_parts import PAINT
from eyelevel.analysis.trials.blocks import loads_by_repetition
from eyelevel.plan.presets import preset_text

TEXT = preset_text("quickstart", SITES)
METRIC = "speed_index_ms"


def loads_of(results, network):
    stacks = ("tcp", "tcp+", "quic")
    return {
        stack: loads_by_repetition(
            results.blocks.kept, network, stack, METRIC, sorted(results.sites)
        )
        for stack in stacks
    }


def gains_of(results, metric=METRIC):
    return [gain for gain in results.gains if gain.metric == metric]


def test_every_gain_of_a_run_has_the_error_of_its_networks_stacks(quickstart_contents):
    results = quickstart_contents
    pools = pools_of(results.blocks.kept, results.metrics, results.sites)
    assert set(pools) >= set(product(("dsl", "lte"), (METRIC, "page_load_time_ms")))
    for gain in gains_of(results):
        loads = loads_of(results, gain.network)
        pool = pool_of({name: np.log(values) for name, values in loads.items()})
        assert pools[gain.network, METRIC].variance == pytest.approx(pool.variance)
        expected = estimate_pooled_gain(loads[gain.stack], loads[gain.reference], pool)
        assert [gain.gain.low, gain.gain.high] == pytest.approx([expected.low, expected.high])
        assert gain.gain.degrees_of_freedom == 4
        difference = estimate_pooled_difference(loads[gain.stack], loads[gain.reference], pool)
        assert difference.degrees_of_freedom == 4
        shown = beside_gain(difference, gain.gain)
        assert gain.difference.reason == shown.reason
        assert [gain.difference.low, gain.difference.high] == pytest.approx([shown.low, shown.high])


def test_a_ratio_and_its_milliseconds_never_differ_about_zero(quickstart_contents):
    results = quickstart_contents
    both = [each for each in results.gains if each.gain.determined and each.difference.determined]
    assert len(both) > len(results.gains) / 2
    for gain in both:
        assert gain.is_absolute or gain.gain.excludes_zero == gain.difference.excludes_zero, gain


def test_a_time_and_its_gain_have_one_interval_in_milliseconds(quickstart_contents):
    results = quickstart_contents
    of_gains = {
        (gain.network, gain.comparison, gain.metric): gain.difference for gain in results.gains
    }
    for parts, metric in ((results.speeds, METRIC), (results.paints, PAINT)):
        assert parts
        for each in parts:
            assert not each.blocks_without
            found = of_gains[each.network, each.comparison, metric]
            assert each.whole.difference == found


def test_a_gate_asks_about_the_gain_that_the_report_has(quickstart_contents):
    results = quickstart_contents
    for gain in gains_of(results):
        asked = f"{gain.stack}.speed_index worse than {gain.reference} by 5% on {gain.network}"
        condition = parse_condition(asked, results.stacks, [METRIC], results.networks)
        (verdict,) = evaluate([condition], results)
        assert [verdict.estimate.low, verdict.estimate.high] == pytest.approx(
            [gain.gain.low, gain.gain.high]
        )


def test_a_study_that_may_stop_has_sequences_of_each_comparisons_own_loads(tmp_path):
    text = TEXT.replace("blocks = 3", "blocks = 8")
    fixed, stops = (
        read_run(tmp_path / name, text=text + more)
        for name, more in (("fixed", ""), ("stops", "\n[stop]\n"))
    )
    for metric, pooled in (("page_load_time_ms", 9), (METRIC, 9)):
        assert {each.gain.degrees_of_freedom for each in gains_of(fixed, metric)} == {pooled}
    assert {each.gain.degrees_of_freedom for each in gains_of(stops, "page_load_time_ms")} == {7}


def test_excluded_loads_are_counted_with_the_same_error(tmp_path):
    """With a load of one stack excluded, those of the others have theirs unchanged."""
    text = TEXT.replace("blocks = 3", "blocks = 8")
    results = read_run(tmp_path, {("startup/lte/2", "quic"): "wrong-stack"}, text=text)
    effects = [each for each in results.exclusions if each.network == "lte"]
    assert effects
    for each in effects:
        assert each.gain_with_excluded.gain.degrees_of_freedom == 9


def test_two_stacks_have_their_own_error_alone(tmp_path):
    text = 'sites = ["startup"]\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\n'
    results = read_run(tmp_path, text=f'{text}reference = "tcp"\nblocks = 4\n')
    assert not pools_of(results.blocks.kept, results.metrics, results.sites)
    assert {each.gain.degrees_of_freedom for each in gains_of(results)} == {3}
