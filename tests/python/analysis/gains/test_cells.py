import math
from dataclasses import replace
from operator import attrgetter

import numpy as np
import polars as pl
import pytest

from eyelevel.analysis.claims import verdict
from eyelevel.analysis.gains import cells as cells_module
from eyelevel.analysis.gains.cells import _cell, compare_cells, compare_networks
from eyelevel.analysis.stats.hypothesis import anova_of_two
from eyelevel.analysis.stats.paired import hodges_lehmann, median
from eyelevel.analysis.stats.paired_gains import geometric_gain, performance_gain
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.plan.comparisons import Comparison, against_one

STACKS = ["tcp", "quic"]
LIMIT_MS = 1000.0


def table(loads):
    """Rows from {(site, repetition): {stack: value or outcome}}."""
    rows = []
    for (site, repetition), by_stack in loads.items():
        for stack, value in by_stack.items():
            rows.append(
                {
                    "site": site,
                    "network": "dsl",
                    "stack": stack,
                    "repetition": repetition,
                    "block": f"{site}/dsl/{repetition}",
                    "outcome": value if isinstance(value, str) else "ok",
                    "speed": None if isinstance(value, str) else float(value),
                    "speed_ms": None if isinstance(value, str) else float(value),
                    "machine": None,
                    "limit_ms": LIMIT_MS * (2 if site == "b" else 1),
                }
            )
    return pl.DataFrame(rows)


def study(loads, metric="speed"):
    blocks = select_blocks(table(loads), STACKS)
    cells = compare_cells(blocks.kept, [metric], against_one("tcp", STACKS))
    return blocks, cells, compare_networks(cells, metric, sorted({site for site, _ in loads}))


LOADS = {
    ("a", 1): {"tcp": 100, "quic": 80},
    ("a", 2): {"tcp": 110, "quic": 90},
    ("a", 3): {"tcp": 105, "quic": 88},
    ("b", 1): {"tcp": 200, "quic": 190},
    ("b", 2): {"tcp": 210, "quic": 192},
    ("b", 3): {"tcp": 220, "quic": 205},
}


MORE = {("a", each): {"tcp": 100 + each, "quic": 90 - each % 3} for each in range(10, 20)}


def test_the_networks_gain_is_the_geometric_mean_and_the_papers_stands_beside_it():
    _, cells, (gain,) = study(LOADS)
    assert [(cell.site, cell.pairs) for cell in cells] == [("a", 3), ("b", 3)]
    ratios = [by_stack["quic"] / by_stack["tcp"] for by_stack in LOADS.values()]
    assert gain.gain.value == pytest.approx(math.prod(ratios) ** (1 / 6) - 1)
    assert gain.gain.n == 3 and gain.p_holm == pytest.approx(gain.gain.p)
    assert cells[0].gain.value == pytest.approx(math.prod(ratios[:3]) ** (1 / 3) - 1)
    expected = ((258 / 315 - 1) + (587 / 630 - 1)) / 2
    assert gain.ratio_of_means.value == pytest.approx(expected)
    assert gain.difference.value == pytest.approx(-(57 / 3 + 43 / 3) / 2)
    assert gain.median.value < 0 and not gain.signs_disagree


def test_loads_of_one_repetition_count_as_one_whichever_sites_lost_it():
    lost = {("b", 1): {"tcp": 1, "quic": "lab-failed"}, ("b", 4): {"tcp": 205, "quic": 190}}
    gain = study(LOADS | lost)[2][0].gain
    assert gain.n == 4 and gain.determined


def test_slow_loads_of_the_primary_metric_are_compared_and_corrected():
    loads = {
        ("a", each): {"tcp": 100 + each, "quic": 300 if each < 8 else 100} for each in range(20)
    }
    (gain,) = study(loads)[2]
    assert gain.slow_loads.share.value == 0.4 and gain.slow_loads.share_reference.value == 0
    assert gain.p_slow_holm == gain.slow_loads.p == 2 / 2**8
    assert gain.gain.value > 0 > gain.median.value and gain.signs_disagree


def test_the_instruments_failure_takes_the_pair_out():
    blocks, cells, _ = study(LOADS | {("a", 2): {"tcp": 110, "quic": "starved"}})
    assert [(each.block, each.reason) for each in blocks.excluded] == [("a/dsl/2", "quic: starved")]
    assert blocks.kept.height == 11 and blocks.whole == 5
    assert cells[0].pairs == 2 and cells[0].median_reference == 102.5


def test_a_pair_needs_only_its_own_two_loads():
    loads = {key: {**each, "bbr": 90.0 + key[1]} for key, each in LOADS.items()}
    whole = compare_cells(table(loads), ["speed"], [Comparison("quic", "tcp")])
    loads["a", 2]["bbr"] = "different-page"
    loads["b", 1]["bbr"] = "starved"
    kept = select_blocks(table(loads), ["tcp", "quic", "bbr"]).kept
    asked = [Comparison("quic", "tcp"), Comparison("bbr", "tcp")]
    found = compare_cells(kept, ["speed"], asked)
    assert [cell for cell in found if cell.stack == "quic"] == whole
    assert [cell.pairs for cell in found if cell.stack == "bbr"] == [2, 2]


def test_the_tests_of_timeouts_are_of_the_gains_family():
    never = {("a", each): {"tcp": 110, "quic": "timeout"} for each in range(20, 31)}
    fine = {("a", each): {"tcp": 110 + each, "quic": 100} for each in range(31, 51)}
    (gain,) = study(LOADS | never | fine, "speed_ms")[2]
    assert gain.family == 2 and gain.timeouts.p == 2 / 2**11
    assert gain.gain.p is None, "too many did not finish, so that the family has one p value"
    assert gain.p_timeouts_holm == gain.timeouts.p and gain.timeouts_differ
    assert verdict(gain, 0.05) == "fewer loads finished"
    (gain,) = study(LOADS | MORE, "speed_ms")[2]
    assert gain.family == 1 and gain.p_holm == gain.gain.p, "no timeout, so no share of the level"


def test_a_load_not_run_takes_its_block_out():
    blocks, _, _ = study(LOADS | {("a", 2): {"tcp": 110}})
    assert blocks.excluded[0].reason == "not run: quic"


def test_a_timeout_counts_as_its_sites_limit_in_gain_and_difference():
    late = {("a", 2): {"tcp": 110, "quic": "timeout"}, ("b", 2): {"tcp": 210, "quic": "timeout"}}
    _, cells, (gain,) = study(
        LOADS | late | {("b", 4): {"tcp": 200, "quic": 190}} | MORE, "speed_ms"
    )
    counted = LOADS | {("b", 4): {"tcp": 200, "quic": 190}} | MORE
    counted |= {("a", 2): {"tcp": 110, "quic": 1000}, ("b", 2): {"tcp": 210, "quic": 2000}}
    expected = study(counted)[2][0]  # of what has no limit
    assert gain.gain == expected.gain and gain.gain.determined
    assert gain.difference == expected.difference and gain.difference.determined
    assert cells[0].gain.determined and math.isinf(cells[0].loads[1].max())
    assert "timed out" in gain.ratio_of_means.reason
    found = gain.timeouts
    assert (found.count, found.count_reference, found.pairs) == (2, 0, 17)
    assert (found.limit_min, found.limit_max, found.bound) == (1000, 2000, "at least")
    assert gain.p_timeouts_holm == found.p == 1


def test_more_than_a_fifth_of_timeouts_leaves_no_gain_but_a_difference():
    late = {("a", each): {"tcp": 110, "quic": "timeout"} for each in (1, 2)}
    (gain,) = study(LOADS | late, "speed_ms")[2]
    assert gain.gain.value is None and gain.gain.reason.startswith("2 of 6 loads did not finish")
    assert gain.difference.determined
    (gain,) = study(LOADS | {("a", 1): {"tcp": 110, "quic": "timeout"}}, "speed_ms")[2]
    assert gain.gain.determined


def test_a_timeout_by_what_is_no_time_leaves_only_medians():
    blocks, cells, gains = study(LOADS | {("a", 2): {"tcp": 110, "quic": "timeout"}})
    assert blocks.excluded == ()
    assert cells[0].timeouts == 1 and cells[0].median == 88
    assert cells[0].gain.value is None and cells[0].anova.verdict == "undetermined"
    assert gains[0].gain.value is None and "timed out" in gains[0].gain.reason
    assert cells[1].gain.value is not None


def test_mostly_timeouts_have_an_infinite_median():
    late = {("a", 1): {"tcp": 1, "quic": "timeout"}, ("a", 2): {"tcp": 1, "quic": "timeout"}}
    _, cells, _ = study(LOADS | late)
    assert math.isinf(cells[0].median)


def test_a_metric_that_no_load_of_a_site_has_is_the_reason_and_no_lost_block():
    kept = select_blocks(table(LOADS), STACKS).kept
    without = pl.when(pl.col("site") != "b").then(pl.col("speed")).alias("speed")
    cells = compare_cells(kept.with_columns(without), ["speed"], against_one("tcp", STACKS))
    (gain,) = compare_networks(cells, "speed", ["a", "b"])
    assert gain.gain.value is None and gain.gain.reason == "no load of b has this metric"


def test_a_site_without_any_block_leaves_the_network_undetermined():
    lost = {("b", each): {"tcp": "lab-failed", "quic": 190} for each in (1, 2, 3)}
    _, cells, gains = study(LOADS | lost)
    assert [cell.site for cell in cells] == ["a"]
    assert gains[0].gain.value is None and "no complete block of b" in gains[0].gain.reason


def test_a_planned_network_without_any_block_is_undetermined_and_not_left_out():
    cells = study(LOADS)[1]
    planned = [(network, "quic", "tcp", "speed") for network in ("dsl", "lte")]
    gains = compare_networks(cells, "speed", ["a", "b"], planned)
    assert [(each.network, each.gain.value is None) for each in gains] == [
        ("dsl", False),
        ("lte", True),
    ]
    assert gains[1].gain.reason == "no complete block is left" and gains[1].p_holm is None


def test_the_answer_does_not_depend_on_the_order_of_rows():
    shuffled = dict(sorted(LOADS.items(), reverse=True))
    statistics = attrgetter("gain", "ratio_of_means", "difference", "anova", "median")
    here, there = study(LOADS)[1], study(shuffled)[1]
    assert here == there and list(map(statistics, here)) == list(map(statistics, there))


def test_gains_over_sites_compute_no_statistic_of_a_site(monkeypatch):
    def nobody(*_):
        raise AssertionError("a statistic is computed that nobody asked for")

    for name in ("performance_gain", "hodges_lehmann", "anova_of_two", "median"):
        monkeypatch.setattr(cells_module, name, nobody)
    (gain,) = study(LOADS)[2]
    assert gain.gain.determined


def test_the_short_ways_of_no_pair_and_one_answer_as_the_computations():
    for x, r in (([], []), ([90.0], [100.0])):
        there = np.array(x), np.array(r)
        found = _cell(("dsl", "a", "quic", "tcp", "speed"), (np.arange(len(x)), *there))
        assert found.ratio_of_means == performance_gain(x, r)
        assert found.difference == hodges_lehmann(x, r)
        gain = geometric_gain(x, r)
        assert replace(found.gain, value=None) == replace(gain, value=None)
        assert found.gain.value == (gain.value and pytest.approx(gain.value))
        assert found.anova == anova_of_two(x, r)
        assert (found.median, found.median_reference) == (median(x), median(r))
