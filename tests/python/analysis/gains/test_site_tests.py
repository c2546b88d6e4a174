"""The further tests of a study's comparisons are the tests themselves, on the right loads."""

import numpy as np
import polars as pl
import pytest

from eyelevel.analysis.gains.cells import compare_cells
from eyelevel.analysis.gains.site_tests import site_tests
from eyelevel.analysis.stats.bootstrap import bootstrap_difference
from eyelevel.analysis.stats.hypothesis import (
    games_howell,
    kruskal_wallis,
    mann_whitney,
    welch_anova,
)
from eyelevel.plan.comparisons import against_one

STACKS = ["tcp", "tcp+", "quic"]
BLOCKS = 12


def study(late=(), absent=()):
    """One site on two networks; `late` and `absent`: (network, stack, repetition)."""
    draw = np.random.Generator(np.random.PCG64(21))
    rows = []
    for network in ("dsl", "lte"):
        for repetition in range(BLOCKS):
            for number, stack in enumerate(STACKS):
                value = (100 - 5 * number) * (1 + (1 + number) * 0.03 * draw.standard_normal())
                at = (network, stack, repetition)
                ended = "timeout" if at in late else "ok"
                speed = None if at in late or at in absent else value
                block = f"{network}/{repetition:02}"
                rows.append((network, "a", stack, block, repetition, ended, speed))
    names = ["network", "site", "stack", "block", "repetition", "outcome", "speed"]
    return pl.DataFrame(rows, schema=names, orient="row")


def found_in(kept):
    cells = compare_cells(kept, ["speed"], against_one("tcp", STACKS))
    found = site_tests(kept, cells, against_one("tcp", STACKS))
    assert [(e.network, e.stack) for e in found] == [(c.network, c.stack) for c in cells]
    return {(each.network, each.stack): each for each in found}


def test_each_comparison_has_every_test_of_its_own_loads():
    kept = study()
    runs = {stack: kept.filter(network="lte", stack=stack)["speed"].to_numpy() for stack in STACKS}
    found = found_in(kept)["lte", "quic"]
    x, r = runs["quic"], runs["tcp"]
    assert found.welch_anova == welch_anova([x, r])
    assert found.kruskal_wallis == kruskal_wallis([x, r])
    dominance = mann_whitney(x, r)
    assert (found.mann_whitney.statistic, found.mann_whitney.p) == (dominance.u, dominance.p)
    assert (found.cliffs_delta.value, found.cliffs_delta.low) == (dominance.delta, dominance.low)
    assert found.mean_difference == bootstrap_difference(x, r)
    pair = games_howell(runs)[1]
    assert (pair.first, pair.second) == ("tcp", "quic")
    assert found.games_howell.p == pytest.approx(pair.p)
    assert found.games_howell.value == pytest.approx(-pair.value)
    assert found.games_howell.low == pytest.approx(-pair.high)


def test_a_timeout_leaves_the_other_stacks_their_means():
    found = found_in(study(late=[("dsl", "quic", 3)]))
    late, other = found["dsl", "quic"], found["dsl", "tcp+"]
    assert "timed out" in late.games_howell.reason and "timed out" in late.welch_anova.reason
    assert late.mann_whitney.p is not None and late.kruskal_wallis.p is not None
    assert other.games_howell.p is not None
    reference = found_in(study(late=[("dsl", "tcp", 3)]))
    assert "timed out" in reference["dsl", "tcp+"].games_howell.reason


def test_blocks_without_a_value_are_left_out_of_their_pair():
    kept = study(absent=[("dsl", "quic", 0)])
    found = found_in(kept)["dsl", "quic"]
    runs = [
        kept.filter(network="dsl", stack=stack)["speed"].to_numpy()[1:] for stack in ("quic", "tcp")
    ]
    assert found.welch_anova == welch_anova(runs)
    assert found.mean_difference.n == BLOCKS - 1


def test_without_runs_every_test_says_why():
    every = [("dsl", "quic", repetition) for repetition in range(BLOCKS)]
    found = found_in(study(absent=every))["dsl", "quic"]
    for each in (found.welch_anova, found.kruskal_wallis, found.games_howell, found.mann_whitney):
        assert each.p is None and each.reason == "fewer than two runs"
    assert found.mean_difference.reason


def test_a_stack_without_a_load_takes_nothing_from_the_others():
    kept = study().filter((pl.col("network") != "lte") | (pl.col("stack") != "tcp+"))
    assert set(found_in(kept)) == {("dsl", "tcp+"), ("dsl", "quic"), ("lte", "quic")}
