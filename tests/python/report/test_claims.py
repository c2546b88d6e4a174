"""Who is called faster or slower, in words and colours: the primary metric's verdict alone, and
nobody in a run that was broken off."""

import io
import json
import re
import shutil
from dataclasses import replace
from itertools import product

import pytest
import vl_convert
from rich.console import Console
from synthetic_run import SITES, metrics_of, read_run, write_run

import eyelevel
from eyelevel.analysis.answers import comparison_verdicts
from eyelevel.analysis.claims import is_claimed, verdict_of
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gate import evaluate, parse_condition
from eyelevel.analysis.study import read_results
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.cli.results.report import Summary, print_summary
from eyelevel.plan.presets import preset_text
from eyelevel.report.charts.paper import heat_map
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.first_screen.warnings import first_warnings
from eyelevel.report.page import page, summary_of
from eyelevel.report.page_data import PageData
from eyelevel.report.sections.charts import charts_section
from eyelevel.store.directory import PLAN_FILE

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 12")
GRID = """\
sites = ["a"]
networks = ["das-3-30", "das-3-60", "das-25-30", "das-25-60"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 8
"""
GREY = "\x1b[90m"
CLAIM = re.compile(r'class="(?:faster|slower)"')
SAID = re.compile(r"\bwas (?:faster|slower) than")


def without_its_last_load(directory, target):
    """A copy of a run whose last load was never made."""
    shutil.copytree(directory, target)
    plan = json.loads((target / PLAN_FILE).read_text(encoding="utf-8"))
    shutil.rmtree(target / "trials" / plan["trials"][-1]["hash"])
    return target


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    write_run(directory, text=TEXT)
    return read_results(directory, metrics_of)


@pytest.fixture(scope="module")
def broken_off(whole, tmp_path_factory):
    target = tmp_path_factory.mktemp("broken") / "run"
    return read_results(without_its_last_load(whole.directory, target), metrics_of)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("grid"), text=GRID, noise=0.01)


def rows_of(name, results):
    return next(each for each in (*FIGURES, *TABLES) if each.name == name).rows(results)


def test_a_whole_run_has_a_verdict_of_each_primary_comparison(whole):
    assert whole.unfinished == ""
    for each in summary_of(whole)["gains"]:
        primary = each["metric"] == whole.primary_metric
        assert (each["verdict"] is not None) == primary
        assert each["no_verdict_because"] == (
            None if primary else "only the primary metric has one"
        )
    assert summary_of(whole)["unfinished"] is None
    assert SAID.search(page(whole))


def test_colours_are_of_claims_alone(whole):
    """All metrics are shares of one load time: each has an interval without zero."""
    others = [gain for gain in whole.gains if gain.metric != whole.primary_metric]
    assert any(gain.gain.excludes_zero for gain in others)
    claimed = [gain for gain in whole.gains if is_claimed(whole, gain)]
    assert claimed and {gain.metric for gain in claimed} == {whole.primary_metric}
    # In the answer and in the table; what else has a colour would be no claim.
    assert len(CLAIM.findall(page(whole))) == 2 * len(claimed)


def test_what_does_not_matter_has_no_colour(tmp_path):
    """Clearly below zero, and within the smallest effect of interest."""
    text = GRID.replace('["das-3-30", "das-3-60", "das-25-30", "das-25-60"]', '["dsl"]')
    small = read_run(
        tmp_path, text=text.replace('"quic"', '"tcp+"') + "smallest_effect_of_interest = 0.2\n",
        noise=0.01,
    )  # fmt: skip
    (gain,) = [each for each in small.gains if each.metric == small.primary_metric]
    assert gain.p_holm < 0.001
    assert verdict_of(small, gain) == "faster, by less than matters"
    assert not CLAIM.search(page(small))


def test_single_sites_are_called_neither(whole):
    text = page(whole)
    at = text.index('id="sites"')
    part = text[at : text.index("</section>", at)]
    assert "faster" not in part.replace("called faster or slower", "")
    assert whole.cells[0].anova.verdict in ("lower", "higher", "no significant difference")


def test_what_is_said_over_all_networks_of_an_unfinished_run_is_so_far(tmp_path):
    weighted = GRID.replace('"das-3-30"', '{ name = "w", base = "das-3-30", weight = 2 }')
    write_run(tmp_path, text=weighted)
    shutil.rmtree(next(iter((tmp_path / "trials").iterdir())))
    summary = summary_of(read_results(tmp_path, metrics_of))
    assert summary["unfinished"] and all(said.startswith("So far ") for said in summary["answer"])
    assert summary["answer"][-1].startswith("So far over all networks, weighted, ")


def test_a_run_that_was_broken_off_has_no_verdict(broken_off):
    assert broken_off.unfinished == "143 of 144 loads are there"
    summary = summary_of(broken_off)
    assert summary["unfinished"] == broken_off.unfinished
    for each in summary["gains"]:
        assert each["verdict"] is None
        assert each["no_verdict_because"] == ("the run is not complete: 143 of 144 loads are there")
    head, text = first_warnings(broken_off)[0]
    assert head == "No verdict: the run is not complete."
    assert text.startswith("143 of 144 loads are there, and 47 of 48 blocks are complete.")
    assert "--resume" in text


def test_it_describes_with_numbers_in_grey(broken_off):
    text = page(broken_off).replace(NO_BREAK, " ")
    assert not CLAIM.search(text) and not SAID.search(text)
    sentences = [sentence.replace(NO_BREAK, " ") for sentence in summary_of(broken_off)["answer"]]
    assert re.match(
        r"So far on dsl, quic against tcp\+: [\d ]+ ms or [\d.]+ % faster", sentences[0]
    )
    for row in comparison_verdicts(broken_off):
        for verdict in row.verdicts:
            size = verdict.size.replace(NO_BREAK, " ")
            assert f'<strong class="open">so far</strong><span>{size}</span>' in text


def print_text(results, monkeypatch):
    screen = io.StringIO()
    console = Console(
        file=screen, force_terminal=True, color_system="standard", width=300, highlight=False
    )
    monkeypatch.setattr("eyelevel.cli.results.report.results", console)
    print_summary(Summary(results, results.directory / "report.html"))
    return screen.getvalue()


def test_the_terminal_has_its_numbers_in_grey_and_no_others(broken_off, whole, monkeypatch):
    text = print_text(broken_off, monkeypatch)
    assert "No verdict: the run is not complete. 143 of 144 loads" in text
    assert text.count(f"{GREY}So far on dsl, ") == 2
    assert GREY not in print_text(whole, monkeypatch)


def metrics_without_shifts(record, frames):
    measured = metrics_of(record, frames)
    blocking_ms = 0.05 * measured.metrics["page_load_time_ms"]
    vitals = {"cumulative_layout_shift_score": 0.0, "total_blocking_time_ms": blocking_ms}
    return replace(measured, metrics=measured.metrics | vitals)


def test_the_terminal_has_the_vitals_and_a_difference_where_there_is_no_ratio(
    tmp_path, monkeypatch
):
    """0 has no ratio, and its difference is 0. A metric that no load has is not there."""
    write_run(tmp_path, text=preset_text("quickstart", SITES))
    results = read_results(tmp_path, metrics_without_shifts)
    lines = [" ".join(line.split()) for line in print_text(results, monkeypatch).splitlines()]
    for title in ("Largest Contentful Paint", "Cumulative Layout Shift", "Total Blocking Time"):
        assert sum(title in line for line in lines) == len(results.networks)
    shifts = [line for line in lines if "Cumulative Layout Shift" in line]
    assert shifts == ["Cumulative Layout Shift 0.000 0.000"] * len(results.networks)
    without = print_text(
        read_run(tmp_path / "other", text=preset_text("quickstart", SITES)), monkeypatch
    )
    assert "Largest Contentful Paint" in without and "Cumulative Layout Shift" not in without


def test_a_notebook_has_none_either(broken_off, whole, monkeypatch):
    monkeypatch.setattr("eyelevel.report.notebook.read_results", lambda _: broken_off)
    gains = eyelevel.open(broken_off.directory).gains()
    assert gains["verdict"].null_count() == gains.height
    assert set(gains["no_verdict_because"]) == {
        "the run is not complete: 143 of 144 loads are there"
    }
    monkeypatch.setattr("eyelevel.report.notebook.read_results", lambda _: whole)
    assert "faster" in eyelevel.open(whole.directory).gains()["verdict"].to_list()


def test_a_gate_of_it_has_none(broken_off, whole):
    names = [each.name for each in whole.plan.stacks], list(whole.metrics), whole.networks
    worse = parse_condition("tcp.speed_index.p50 worse than quic by 1% on lte", *names)
    budget = parse_condition("tcp.speed_index.p50 above 1 ms on lte", *names)
    assert {each.status for each in evaluate([worse, budget], whole)} == {"failed"}
    for verdict in evaluate([worse, budget], broken_off):
        assert verdict.status == "no verdict" and verdict.blocks_needed is None
        assert "no verdict, since the run is not complete: 143 of 144 loads" in verdict.message
    inconclusive = parse_condition("tcp.speed_index.p50 worse than quic by 16% on lte", *names)
    (asked,), (unasked,) = (evaluate([inconclusive], run) for run in (whole, broken_off))
    assert asked.status == "inconclusive" and "; it is worse, but by how much" in asked.message
    assert "it is worse" not in unasked.message and "blocks would be enough" not in unasked.message


def test_two_runs_of_which_one_was_broken_off_are_not_judged(broken_off, whole):
    metric = whole.primary_metric
    assert {v.status for v in compare_runs(whole, whole, metric, 0.5).verdicts} == {"passed"}
    asked = compare_runs(whole, whole, metric, 0.01).verdicts
    assert any("blocks in each run would be enough" in verdict.message for verdict in asked)
    for pair, limit in product(((whole, broken_off), (broken_off, whole)), (0.01, 0.5)):
        found = compare_runs(*pair, metric, limit).verdicts
        assert {verdict.status for verdict in found} == {"no verdict"}
        assert all("143 of 144 loads" in verdict.message for verdict in found)
        assert not any("blocks in each run would be enough" in verdict.message for verdict in found)


def read_chart_claims(results):
    data = PageData(results)
    charts_section(results, data)
    chart = data.specifications["gain-0"]
    rows = next(rows for rows in chart["datasets"].values() if "claimed" in rows[0])
    return [row for row in rows if row["claimed"]]


def test_the_chart_of_gains_colours_claims_alone(whole, broken_off):
    claimed = read_chart_claims(whole)
    assert claimed and {row["metric"] for row in claimed} == {whole.primary_metric}
    assert read_chart_claims(broken_off) == []


def test_maps_follow_the_verdict(grid, tmp_path):
    for results, claimed in (
        (grid, True),
        (read_results(without_its_last_load(grid.directory, tmp_path / "run"), metrics_of), False),
    ):
        findings = set(rows_of("break-even", results)["finding"])
        assert findings == ({"faster"} if claimed else {"undecided"})
        heat = rows_of("heat-map", results)
        comparisons = [str(asked) for asked in results.comparisons]
        assert set(heat["claimed"]) == {claimed}
        svg = vl_convert.vegalite_to_svg(heat_map(heat, "Speed Index", comparisons))
        squares = re.findall(r'class="mark-rect role-mark.*?</g>', svg)
        fills = {fill for group in squares for fill in re.findall(r'fill="([^"]+)"', group)}
        assert (fills <= {"none", "#f5f5f2", "#5b656c"}) != claimed


def test_an_interval_without_zero_is_undecided_where_the_family_is_large(tmp_path):
    """Of four networks one differs a little: alone it would be clear."""
    noisy = read_run(tmp_path, text=GRID, noise=0.14)
    gains = [gain for gain in noisy.gains if gain.metric == noisy.primary_metric]
    unclear = [gain for gain in gains if gain.gain.excludes_zero and not is_claimed(noisy, gain)]
    assert unclear, [(gain.gain.p, gain.p_holm) for gain in gains]
    rows = rows_of("break-even", noisy)
    for gain in unclear:
        assert rows.filter(network=gain.network)["finding"].to_list() == ["undecided"]
