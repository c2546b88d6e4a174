"""The figures' claims against a truth that is put in: benchmarks/statistics/figures.py, small."""

import math
import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from repository import ROOT
from synthetic_run import read_run

from eyelevel.analysis.gains.cells import compare_cells, compare_networks
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.figures.catalogue import TABLES
from eyelevel.report.figures.site_gains import lines_of, site_attributes

TEXT = """\
sites = ["a"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 1
primary_metric = "page_load_time_ms"
"""
METRIC = "page_load_time_ms"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    """As `python -m` has it there."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TEXT)


def error(share, count):
    """Three and a half standard errors of a share."""
    return 3.5 * math.sqrt(share * (1 - share) / count) + 1 / count


def with_loads(results, quic, tcp):
    """The run with these loads in ms, sites x repetitions of each stack, on one network."""
    site, repetition = (axis.ravel() for axis in np.indices(quic.shape))
    names = [f"s{n}" for n in site]
    rows = pl.concat(
        pl.DataFrame(
            {
                "network": "dsl",
                "site": names,
                "stack": stack,
                "block": [f"{name}/dsl/{n}" for name, n in zip(names, repetition, strict=True)],
                "repetition": repetition,
                "outcome": "ok",
                "limit_ms": 60e3,
                METRIC: times.ravel(),
                "origins": 1.0,
                "objects": 1.0,
                "encoded_bytes": 1000.0,
            }
        )
        for stack, times in (("quic", quic), ("tcp", tcp))
    )
    cells = compare_cells(rows, [METRIC], [Comparison("quic", "tcp")])
    gains = compare_networks(cells, METRIC, sorted(set(names)))
    blocks = replace(results.blocks, kept=rows)
    return replace(results, blocks=blocks, cells=tuple(cells), gains=tuple(gains))


def table(name, results):
    return next(each for each in TABLES if each.name == name).rows(results)


@pytest.mark.parametrize("runs", [5, 31])
def test_shares_of_sites_by_anova_are_those_that_its_power_gives(results, runs):
    """A third of the sites each: no difference, lower by one standard deviation, higher by half."""
    from benchmarks.statistics.figures import expected_shares

    sites, effects = 600, (0.0, -1.0, 0.5)
    draw = np.random.Generator(np.random.PCG64(41 + runs))
    tcp, quic = 1000 + 50 * draw.standard_normal((2, sites, runs))
    quic += 50 * np.repeat(effects, sites // 3)[:, None]
    (row,) = table("significance-shares", with_loads(results, quic, tcp)).iter_rows(named=True)
    expected = np.mean([expected_shares(effect, runs) for effect in effects], axis=0)
    found = [row["share_lower"], row["share_higher"]]
    for share, truth in zip(found, expected[:2], strict=True):
        assert abs(share - truth) < error(truth, sites)
    assert row["sites"] == sites and row["share_undetermined"] == 0


def test_of_equal_stacks_one_site_in_a_hundred_differs_by_anova(results):
    sites, draw = 1500, np.random.Generator(np.random.PCG64(43))
    tcp, quic = 1000 + 50 * draw.standard_normal((2, sites, 5))
    (row,) = table("significance-shares", with_loads(results, quic, tcp)).iter_rows(named=True)
    assert abs(row["share_lower"] + row["share_higher"] - 0.01) < error(0.01, sites)


@pytest.mark.parametrize("sites", [10, 100])
def test_an_attribute_that_has_nothing_to_do_with_gains_is_seldom_called_best(sites):
    """The largest alone, above zero, is one in more than half of the studies."""
    from benchmarks.statistics.figures import best_attribute

    studies = 250
    draw = np.random.Generator(np.random.PCG64(44))
    called, _, largest = best_attribute(sites, 0.0, studies, draw)
    assert called < 0.05 + error(0.05, studies) and largest > 0.4


def test_the_attribute_that_makes_gains_is_called_best_and_no_other():
    from benchmarks.statistics.figures import SLOPE, best_attribute

    called, right, _ = best_attribute(100, SLOPE, 100, np.random.Generator(np.random.PCG64(45)))
    assert called > 0.95 and called - right < 0.05


@pytest.mark.parametrize(("sites", "disturbance"), [(1, 0.0), (10, 0.3), (38, 0.3)])
def test_slide_13s_intervals_miss_as_seldom_as_they_say(sites, disturbance):
    """With errors of sites added in squares, those of 38 sites missed in 32 % of studies."""
    from benchmarks.statistics.figures import ratio_misses

    studies = 600
    draw = np.random.Generator(np.random.PCG64(46 + sites))
    assert ratio_misses(sites, 10, disturbance, studies, draw) < 0.05 + error(0.05, studies)


def test_the_table_of_mean_gains_has_these_intervals(results):
    draw = np.random.Generator(np.random.PCG64(47))
    tcp = 1000 * np.exp(0.1 * draw.standard_normal((6, 8)))
    quic = tcp * 0.9 * np.exp(0.1 * draw.standard_normal(8))  # the same on all sites
    (gain,) = with_loads(results, quic, tcp).gains
    alone = with_loads(results, quic[:1], tcp[:1]).gains[0].ratio_of_means
    together = gain.ratio_of_means
    # What all sites share no number of sites makes smaller.
    assert together.high - together.low > 0.8 * (alone.high - alone.low)
    assert together.degrees_of_freedom == 7


@pytest.mark.parametrize(("share", "sites"), [(0.5, 6), (0.5, 40), (0.95, 40), (0.95, 100)])
def test_the_change_of_a_quantile_over_sites_is_missed_as_seldom_as_said(share, sites):
    from benchmarks.statistics.figures import quantile_misses

    studies = 150
    draw = np.random.Generator(np.random.PCG64(48 + sites))
    assert quantile_misses(share, sites, studies, draw) < 0.05 + error(0.05, studies)


def test_the_https_share_is_that_of_the_stacks_that_have_tls(results):
    """Over cleartext a stack has none; a recording of a quarter of http has 75 % over the other."""
    loads = with_loads(results, np.full((2, 3), 900.0), np.full((2, 3), 1000.0))
    cleartext = pl.when(pl.col("stack") == "tcp").then(1.0).otherwise(0.25)
    kept = loads.blocks.kept.with_columns(cleartext_share=cleartext, server_addresses=1.0)
    found = site_attributes(replace(loads, blocks=replace(loads.blocks, kept=kept)))
    assert found["https_share"].to_list() == [0.75, 0.75]


def test_the_change_is_a_share_of_the_time_and_no_logarithm():
    """Times that double with each doubling of the bytes change by +100 %, and not by ln 2."""
    doublings = np.arange(12.0)
    noise = 0.01 * np.random.Generator(np.random.PCG64(49)).standard_normal(12)
    sites = pl.DataFrame(
        {
            "encoded_bytes": 1000 * 2**doublings,
            "ratio_of_means": 2 ** (doublings - 6) * np.exp(noise) - 1,
            **dict.fromkeys(("server_addresses", "objects", "https_share"), 1.0),
            "mean_object_bytes": 1000.0,
        }
    )
    first = lines_of(sites).row(0, named=True)
    assert first["attribute"] == "encoded_bytes" and first["best"]
    assert first["change"] == pytest.approx(1, abs=0.01)
    assert 0.98 < first["change_low"] < first["change_high"] < 1.02
