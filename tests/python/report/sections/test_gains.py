"""Both corrections and the equivalence of the gains, on the page and in the summary."""

import json
from dataclasses import replace

import polars as pl
import pytest
from synthetic_run import SITES, metrics_of, read_run, write_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.cells import compare_cells, compare_networks
from eyelevel.analysis.stats.families import correct
from eyelevel.analysis.stats.hypothesis import gain_equivalence
from eyelevel.analysis.study import read_results
from eyelevel.plan.presets import preset_text
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.gains import gains_section, p_values_details

PRIMARY = "speed_index_ms"


def run_of(directory, text=None, outcomes=None):
    return read_run(directory, outcomes, text)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    late = {(f"startup/lte/{n}", "quic"): "timeout" for n in (1, 2)}
    return run_of(tmp_path_factory.mktemp("run"), outcomes=late)


def test_each_metric_is_a_family_that_is_named(results):
    gains = [each for each in summary_of(results)["gains"] if each["metric"] == PRIMARY]
    assert {each["family"] for each in gains} == {"speed_index_ms, all networks and comparisons"}
    family = correct({"of": [each["gain"]["p"] for each in gains]}, "benjamini-hochberg")["of"]
    assert [each["p_benjamini_hochberg"] for each in gains] == list(family.adjusted)
    known = [each for each in gains if each["gain"]["p"] is not None]
    assert len(known) == 3 == results.gain_tests[0].members
    assert all(e["gain"]["p"] <= e["p_benjamini_hochberg"] <= e["p_holm"] + 1e-12 for e in known)
    late = next(each for each in gains if each["gain"]["p"] is None)
    assert late["p_benjamini_hochberg"] is None and late["p_equivalence"] is None


def test_equivalence_is_against_the_plans_smallest_effect(tmp_path, results):
    # A stack under two names, in blocks that scatter by a tenth of a percent.
    text = f"""title = "One stack twice"
sites = {json.dumps(SITES)}
networks = ["dsl"]
stacks = ["tcp", {{ name = "again", base = "tcp" }}]
reference = "tcp"
blocks = 10
"""
    found = read_run(tmp_path, None, text, noise=0.001)
    (gain,) = [each for each in found.gains if each.metric == PRIMARY]
    said = next(each for each in summary_of(found)["gains"] if each["metric"] == PRIMARY)
    assert said["p_equivalence"] == gain_equivalence(gain.gain, 0.05).p < 0.001
    quick = next(e for e in summary_of(results)["gains"] if e["stack"] == "quic")
    assert quick["p_equivalence"] > 0.5


def test_the_page_has_them_below_the_gains_collapsed(results):
    page = build_report(results.directory, metrics_of).read_text(encoding="utf-8")
    text = page.replace(NO_BREAK, " ")
    at = text.index("<details><summary>p values, corrections and equivalence")
    assert text.index('id="gain"') < at < text.index('id="charts"')
    details = text[at : text.index("</details>", at)]
    assert details.count("<tr>") == 1 + len(results.comparisons) * len(results.networks)
    assert "3 with a p value" in details and "±5.0 %" in details


def test_a_study_that_may_stop_has_neither_for_its_primary_metric(tmp_path):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 8")
    results = run_of(tmp_path, text + "\n[stop]\n")
    for each in summary_of(results)["gains"]:
        primary = each["metric"] == PRIMARY
        assert (each["p_benjamini_hochberg"] is None) == primary
        assert (each["p_equivalence"] is None) == primary
    details = p_values_details(results)
    assert "and these do not allow for that" in details and "Bonferroni" in details


@pytest.mark.parametrize("score", [0.0, 0.002])
def test_a_score_shows_its_difference(results, score):
    """A layout that never shifts has no ratio, and the ratio of two tiny shifts misleads."""
    name = "cumulative_layout_shift_score"
    kept = results.blocks.kept.with_columns(pl.lit(score).alias(name))
    cells = compare_cells(kept, [name], results.comparisons)
    gains = compare_networks(cells, results.primary_metric, results.sites)
    assert {gain.network for gain in gains if gain.is_absolute} >= {"dsl"}
    text = gains_section(replace(results, metrics=(name,), gains=tuple(gains)))
    assert (
        "Cumulative Layout Shift" in text
        and '<td><span class="unclear">0.000</span><small>' in text
    )


def test_a_run_without_gains_has_no_table(tmp_path):
    write_run(tmp_path)
    (tmp_path / "trials").rename(tmp_path / "elsewhere")
    assert p_values_details(read_results(tmp_path, metrics_of)) == ""
