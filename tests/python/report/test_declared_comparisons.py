"""A study with two references: every answer is of a declared comparison, and of no other pair."""

import math
import re

import pytest
from synthetic_run import SITES, metrics_of, read_run

from eyelevel.plan.presets import preset_text
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.notebook import Run
from eyelevel.report.page import build_report, summary_of

ASKED = [("quic", "tcp+"), ("tcp+", "tcp")]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=preset_text("quickstart", SITES))


def pairs(rows):
    return {(row["stack"], row["reference"]) for row in rows}


def test_each_list_of_the_summary_is_by_declared_comparison(results):
    summary = summary_of(results)
    assert summary["comparisons"] == [{"stack": s, "reference": r} for s, r in ASKED]
    for key in ("gains", "site_tests"):
        assert pairs(summary[key]) == set(ASKED)


def test_the_gain_is_against_its_own_reference(results):
    kept = results.blocks.kept.filter(network="dsl").sort("block")

    def logs(stack):
        return kept.filter(stack=stack)["speed_index_ms"].log()

    for stack, reference in ASKED:
        (gain,) = (
            gain.gain.value
            for gain in results.gains
            if (gain.network, gain.stack, gain.reference, gain.metric)
            == ("dsl", stack, reference, "speed_index_ms")
        )
        assert 1 + gain == pytest.approx(math.exp((logs(stack) - logs(reference)).mean()))


def test_the_family_is_the_comparisons_and_the_networks(results):
    primary = [g for g in results.gains if g.metric == results.primary_metric]
    least = min(primary, key=lambda gain: gain.gain.p)
    assert len(primary) == 4 and least.p_holm == pytest.approx(min(1.0, 4 * least.gain.p))


def test_the_answer_has_the_fair_pair_first(results):
    heads = [sentence.split(":")[0].split(" by ")[0] for sentence in summary_of(results)["answer"]]
    on_networks = [(head.split()[1].rstrip(","), "quic" in head) for head in heads]
    assert on_networks == [("dsl", True), ("lte", True), ("dsl", False), ("lte", False)]


def test_frames_and_figures_have_both_names(results):
    run = Run(results.directory)
    for frame in (run.cells(), run.gains()):
        assert set(frame.select("stack", "reference").rows()) == set(ASKED)
    words = {f"{stack} against {reference}" for stack, reference in ASKED}
    for figure in (*FIGURES, *TABLES):
        rows = figure.rows(results)
        if rows.height and "comparison" in rows.columns:
            assert set(rows["comparison"]) == words, figure.name


def test_the_page_names_no_pair_that_was_not_asked(results):
    page = build_report(results.directory, metrics_of).read_text(encoding="utf-8")
    assert "quic against tcp+" in page and not re.search(r"quic against tcp[^+]", page)
