"""Progress curves: what they are the mean of, whose steps they draw, and what they leave out."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import vl_convert
from synthetic_run import PROGRESS, TWO_STACKS, metrics_of, read_run, write_run

from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.report.charts.distribution import ALL_SITES
from eyelevel.report.figures import papers
from eyelevel.report.figures.catalogue import FIGURES
from eyelevel.report.figures.papers import mean_progress, typical_progress

MISSING = 0.35 + 0.15 * 0.8 + 0.2 * 0.5 + 0.1 * 0.4 + 0.2 * 0.1
"""The area above a made-up load's curve, as a share of its load time."""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TWO_STACKS, noise=0.1)


def kept_as(results: StudyResults, kept: pl.DataFrame) -> StudyResults:
    return replace(results, blocks=replace(results.blocks, kept=kept))


def area_ms(curve: pl.DataFrame) -> float:
    """Above a curve, by trapezes."""
    missing, at_s = 1 - curve["share"].to_numpy(), curve["seconds"].to_numpy()
    return 1e3 * float(np.sum((missing[1:] + missing[:-1]) / 2 * np.diff(at_s)))


def test_the_area_above_a_mean_curve_is_the_loads_mean_speed_index(results):
    rows = mean_progress(results, points=2000)
    assert rows.select("network", "site").unique().height == 2 * (2 + 1)
    for (network, site, stack), curve in rows.group_by("network", "site", "stack"):
        loads = results.blocks.kept.filter(network=network, stack=stack)
        by_site = loads.group_by("site").agg(pl.col("page_load_time_ms").mean())
        if site != ALL_SITES:
            by_site = by_site.filter(site=site)
        expected = MISSING * by_site["page_load_time_ms"].mean()
        assert area_ms(curve) == pytest.approx(expected, rel=2e-3)
        assert curve["share"][0] == 0 and curve["share"][-1] == pytest.approx(1)


def test_sites_count_alike_however_many_loads_they_have(results):
    few = (pl.col("site") == "startup") & (pl.col("repetition") > 2)
    rows = mean_progress(kept_as(results, results.blocks.kept.filter(~few)), points=100)
    own = rows.filter(network="lte", stack="quic")
    ends = own.group_by("site").agg(pl.col("seconds").max())["seconds"]
    assert ends.n_unique() == 2, "the axis of all sites is that of the slower one"
    at_s = own.filter(site=ALL_SITES)["seconds"].to_numpy()
    curves = [
        np.interp(at_s, one["seconds"].to_numpy(), one["share"].to_numpy())
        for site in results.sites
        for one in (own.filter(site=site),)
    ]
    together = own.filter(site=ALL_SITES)["share"].to_numpy()
    assert np.abs(together - np.mean(curves, axis=0)).mean() < 0.01


def test_a_curve_says_what_was_there_at_its_times_and_nothing_earlier(results):
    one = results.blocks.kept.filter(site="startup", network="dsl", repetition=1)
    rows = mean_progress(kept_as(results, one), points=1000).filter(stack="tcp")
    (load_ms,) = one.filter(stack="tcp")["page_load_time_ms"]
    steps_ms = [at * load_ms for at, _ in PROGRESS[1:]]
    compared = 0
    for seconds, share in rows.select("seconds", "share").iter_rows():
        at_ms = 1e3 * seconds
        if min(abs(at_ms - step_ms) for step_ms in steps_ms) > 1e-3:  # on a step either is right
            there = [done for at, done in PROGRESS if at * load_ms <= at_ms]
            assert share == pytest.approx(there[-1], abs=1e-6)
            compared += 1
    assert compared > 990


def test_a_block_in_which_a_load_timed_out_is_in_no_curve(tmp_path):
    write_run(tmp_path, {("startup/dsl/2", "tcp"): "timeout"}, text=TWO_STACKS, noise=0.1)
    results = read_results(tmp_path, metrics_of)
    kept = results.blocks.kept
    assert kept.filter(block="startup/dsl/2").height == 2
    without = kept_as(results, kept.filter(pl.col("block") != "startup/dsl/2"))
    assert mean_progress(results).equals(mean_progress(without))


def test_one_straggler_does_not_squeeze_the_axis(results):
    kept = results.blocks.kept
    again = pl.concat([kept.with_columns(block=pl.col("block") + f"+{n}") for n in range(4)])
    scaled = pl.col("progress_at_ms").list.eval(pl.element() * 50)
    slow = again.with_columns(
        pl.when(block="startup/dsl/1+0", stack="tcp").then(scaled).otherwise("progress_at_ms")
    )
    curve = mean_progress(kept_as(results, slow)).filter(network="dsl", site="startup")
    assert curve["seconds"].max() < 1.5
    assert curve.filter(stack="tcp")["share"][-1] == pytest.approx(23 / 24, abs=1e-6)


def typical_repetition(results: StudyResults) -> int:
    """Return the repetition whose difference is nearest to the median difference, by numpy."""
    first = results.blocks.kept.filter(site="startup", network="dsl").sort("repetition")
    logs = {
        stack: np.log(first.filter(stack=stack)["speed_index_ms"].to_numpy())
        for stack in ("tcp", "quic")
    }
    differences = logs["quic"] - logs["tcp"]
    apart = np.round(np.abs(differences - np.median(differences)), 9)
    away = sum(np.abs(each - np.median(each)) for each in logs.values())
    nearest = min(range(len(apart)), key=lambda place: (apart[place], round(away[place], 9)))
    return int(first["repetition"].unique(maintain_order=True)[nearest])


def test_a_typical_load_is_drawn_step_by_step_to_the_end_of_the_slowest(results):
    rows = typical_progress(results)
    panels = rows.select("site", "network").unique(maintain_order=True).rows()
    assert panels == [(s, n) for s in results.sites for n in results.networks]
    of_panel = rows.filter(site="startup", network="dsl")
    end_s = of_panel["seconds"].max()
    for stack in results.stacks:
        loads = results.blocks.kept.filter(site="startup", network="dsl", stack=stack)
        drawn = of_panel.filter(stack=stack)
        (load,) = loads.filter(hash=drawn["hash"][0]).iter_rows(named=True)
        assert load["repetition"] == typical_repetition(results)
        steps = [(at * load["page_load_time_ms"] / 1e3, share) for at, share in PROGRESS]
        found = drawn.select("seconds", "share").rows()
        flat = [number for step in found[: len(steps)] for number in step]
        assert flat == pytest.approx([number for step in steps for number in step], rel=1e-6)
        assert found[-1] == (end_s, 1.0)


def test_loads_without_pictures_have_no_curve(results):
    none = [pl.lit(None, pl.List(pl.Float32)).alias(f"progress_{n}") for n in ("at_ms", "share")]
    blind = kept_as(results, results.blocks.kept.with_columns(none))
    assert mean_progress(blind).height == typical_progress(blind).height == 0


def test_a_large_study_has_as_many_panels_as_can_be_read(results, monkeypatch):
    monkeypatch.setattr(papers, "PANELS_MAX", 2)
    assert mean_progress(results)["site"].unique().to_list() == [ALL_SITES]
    assert typical_progress(results).select("site", "network").unique().height == 2


@pytest.mark.parametrize("name", ["progress", "progress-typical"])
def test_every_panel_is_drawn(results, name):
    (figure,) = (each for each in FIGURES if each.name == name)
    rows = figure.rows(results)
    svg = vl_convert.vegalite_to_svg(figure.chart(rows, results))
    for site, network in rows.select("site", "network").unique().rows():
        assert svg.count(f">{site} on {network}<") == 1
    assert svg.count("mark-line") > 0 and ">100%<" in svg
