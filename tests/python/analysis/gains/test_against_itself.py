"""A variant against itself, in the loads of the run: the noise that stands beside a verdict."""

import math

import numpy as np
import polars as pl
import pytest
from synthetic_run import read_run

from eyelevel.analysis.gains.against_itself import against_itself, noise_sentences
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.page import page, summary_of

ASKED = Comparison("pr/quic", "main/quic")
NOISE = 0.05


def loads(blocks, effect=0.0, sites=("a",), seed=1, lost=()):
    """Kept loads of both variants, with a scatter of NOISE between blocks, on the logarithm."""
    draw = np.random.Generator(np.random.PCG64(seed))
    rows = [
        ("dsl", site, stack, repetition, math.exp(gain + NOISE * draw.standard_normal()) * 1000)
        for site in sites
        for repetition in range(1, blocks + 1)
        for stack, gain in (("main/quic", 0.0), ("pr/quic", effect))
        if (site, repetition) not in lost
    ]
    names = ["network", "site", "stack", "repetition", "speed_index_ms"]
    kept = pl.DataFrame(rows, schema=names, orient="row")
    return kept.with_columns(outcome=pl.lit("ok"), limit_ms=180_000.0)


def found(kept, sites=("a",), comparisons=(ASKED,)):
    return against_itself(kept, "speed_index_ms", comparisons, ["dsl"], sites)


def test_its_reach_is_that_of_the_mean_of_as_many_blocks():
    """The half width of a mean of n differences: 1.96 times their deviation, over the root of n."""
    reaches = [
        each.reach
        for seed in range(40)
        for each in found(loads(40, effect=0.3, seed=seed))
        if each.reach is not None
    ]
    expected = math.expm1(1.96 * NOISE * math.sqrt(2 / 40))
    assert len(reaches) == 80 and np.mean(reaches) == pytest.approx(expected, rel=0.05)


def test_it_claims_a_difference_as_often_as_its_level_allows():
    shares = [each.claimed_share for seed in range(40) for each in found(loads(40, seed=seed))]
    assert np.mean(shares) == pytest.approx(0.05, abs=0.01)


def test_more_sites_have_less_noise_and_a_lost_block_takes_nothing_else():
    sites = ("a", "b", "c", "d")
    (one, _), (four, _) = found(loads(40)), found(loads(40, sites=sites), sites)
    assert four.reach == pytest.approx(one.reach / 2, rel=0.3)
    lost = found(loads(40, sites=sites, lost=[("b", 3)]), sites)
    assert lost[0].pairs == four.pairs == 20


def test_too_few_blocks_and_loads_without_spread_have_none():
    (first, _) = found(loads(5))
    assert (first.reach, first.pairs, first.undetermined_because) == (None, 2, "too few blocks")
    assert noise_sentences(found(loads(5))) == []
    same = loads(10).with_columns(speed_index_ms=pl.lit(1000.0))
    assert {each.undetermined_because for each in found(same)} == {"its loads show no spread"}
    assert found(loads(10), comparisons=[Comparison("pr/quic", "main/tcp+")]) == []


def test_it_stands_beside_each_verdict(tmp_path):
    text = """\
sites = ["startup"]
networks = ["dsl", "lte"]
stacks = ["quic"]
variants = [{ name = "main" }, { name = "pr" }]
reference = "main"
blocks = 12
"""
    results = read_run(tmp_path, text=text)
    sentences = noise_sentences(results.against_itself)
    assert [each.split(":")[0] for each in sentences] == [
        "On dsl, against itself",
        "On lte, against itself",
    ]
    assert "main ±" in sentences[0] and "pr ±" in sentences[0]
    assert page(results).count("<small>against itself: main ±") == 2
    listed = summary_of(results)["against_itself"]
    assert [(each["network"], each["variant"]) for each in listed] == [
        ("dsl", "main"),
        ("dsl", "pr"),
        ("lte", "main"),
        ("lte", "pr"),
    ]
    assert all(0 < each["reach"] < 0.05 for each in listed)


def test_stacks_are_not_held_against_themselves(quickstart_contents):
    assert quickstart_contents.against_itself == ()
    assert "against_itself" not in summary_of(quickstart_contents)
