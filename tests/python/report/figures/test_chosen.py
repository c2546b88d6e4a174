"""Figures of another metric, and of some sites: what is drawn follows, and nothing is claimed."""

from dataclasses import replace

import polars as pl
import pytest
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.claims import no_verdict_because, verdict_of
from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.figures.cellular import why_not

TEXT = """\
sites = ["a", "b", "dashboard"]
networks = ["das-3-30", "das-3-60", "das-25-30", "das-25-60", "das-verizon-30"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 4
"""
STOPPING = TEXT.replace("blocks = 4", "blocks = 8\n[stop]\n")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, text=TEXT, noise=0.01)
    return folder


@pytest.fixture(scope="module")
def planned(directory):
    return read_results(directory, metrics_of)


@pytest.fixture(scope="module")
def of_paint(directory):
    return read_results(directory, metrics_of, metric="largest_contentful_paint_ms")


@pytest.fixture(scope="module")
def of_site(directory):
    return read_results(directory, metrics_of, sites=["dashboard"])


def figure(name):
    return next(each for each in (*FIGURES, *TABLES) if each.name == name)


@pytest.mark.parametrize("name", ["grid-cdf", "cellular-cdf"])
def test_curves_are_of_the_metric_that_was_asked_for(planned, of_paint, name):
    """A made-up load's Speed Index is 0.6 of its time, its largest paint 0.7."""
    own, other = (figure(name).rows(each)["seconds"].sum() for each in (planned, of_paint))
    assert other / own == pytest.approx(0.7 / 0.6)
    chart = figure(name).chart(figure(name).rows(of_paint), of_paint)
    assert "Largest Contentful Paint in s" in str(chart) and "Speed Index" not in str(chart)


def test_a_map_of_another_metric_has_its_numbers_and_no_colour(planned, of_paint):
    """Of the primary metric all of these squares are claimed."""
    assert figure("heat-map").rows(planned)["claimed"].all()
    rows = figure("heat-map").rows(of_paint)
    assert rows.height == 4 and not rows["claimed"].any()
    chart = str(figure("heat-map").chart(rows, of_paint))
    assert "Largest Contentful Paint better by; no square has a verdict" in chart
    assert "'legend': None" in chart
    claimed = str(figure("heat-map").chart(figure("heat-map").rows(planned), planned))
    assert "no square" not in claimed and "'legend': {'format': '%'}" in claimed
    assert set(figure("break-even").rows(of_paint)["finding"]) == {"undecided"}


@pytest.mark.parametrize("name", ["origins", "extremes", "reproducibility"])
def test_rows_of_the_metric_differ_from_the_primary_ones_in_their_numbers_alone(
    planned, of_paint, name
):
    own, other = (figure(name).rows(each) for each in (planned, of_paint))
    assert own.height == other.height and not own.equals(other)


def test_sites_that_are_chosen_stand_alone_and_nothing_is_claimed_of_them(planned, of_site):
    assert of_site.sites == ["dashboard"] and set(of_site.table["site"]) == {"dashboard"}
    assert of_site.unfinished == "" and of_site.foreign == 0
    assert {cell.site for cell in of_site.cells} == {"dashboard"}
    assert any(verdict_of(planned, gain) == "faster" for gain in planned.gains)
    assert {verdict_of(of_site, gain) for gain in of_site.gains} == {None}
    (first, *_) = of_site.gains
    assert no_verdict_because(of_site, first) == "its sites were chosen after the run"
    gains = {gain.network: gain.gain.value for gain in of_site.gains if gain.stack == "quic"}
    assert gains["das-3-30"] == pytest.approx(-0.14, abs=0.03)


@pytest.mark.parametrize("name", ["progress", "progress-typical"])
def test_one_sites_progress_is_drawn_by_itself_as_it_is_among_the_others(planned, of_site, name):
    rows = figure(name).rows(of_site)
    assert set(rows["site"]) == {"dashboard"} and rows["network"].n_unique() == 5
    among = figure(name).rows(planned).filter(site="dashboard")
    assert rows.equals(among) or name == "progress"
    if name == "progress":
        ends = [each.group_by("network", "stack").agg(pl.col("share").last()).sort(pl.all())
                for each in (rows, among)]  # fmt: skip
        assert among.is_empty() or ends[0].equals(ends[1])


def test_what_has_no_load_with_the_metric_is_said(planned):
    kept = planned.blocks.kept.with_columns(page_load_time_ms=pl.lit(None, pl.Float64))
    lost = replace(planned, drawn="page_load_time_ms", blocks=replace(planned.blocks, kept=kept))
    assert why_not("heat-map", lost) == "no load has Page Load Time"
    assert "follows a generated trace" in why_not("trace-rate", lost)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"metric": "speed_indx_ms"}, "--metric: unknown time `speed_indx_ms`; did you mean"),
        ({"metric": "received_bytes"}, "--metric: unknown time `received_bytes`"),
        ({"sites": ["dashboards"]}, "--site: unknown site `dashboards`; did you mean `dashboard`"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(directory, chosen, said):
    with pytest.raises(PlanError, match=said) as refused:
        read_results(directory, metrics_of, **chosen)
    assert "\n" not in str(refused.value)


def test_a_study_that_may_stop_early_has_no_choice_of_sites(tmp_path):
    write_run(tmp_path, text=STOPPING)
    with pytest.raises(PlanError, match="--site: the study may stop early"):
        read_results(tmp_path, metrics_of, sites=["a"])
