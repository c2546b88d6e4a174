"""The further tests on the page and in the summary."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from repository import ROOT
from synthetic_run import SITES, metrics_of, read_run, write_run

from eyelevel.analysis.formats import NO_BREAK, format_p
from eyelevel.analysis.report_metrics import select_cells, select_timed_out
from eyelevel.analysis.study import read_results
from eyelevel.plan.presets import preset_text
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.robustness import further_tests, sites_section


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 10")
    write_run(directory, {("dashboard/lte/1", "quic"): "timeout"}, text)
    return directory


@pytest.fixture(scope="module")
def results(run):
    return read_results(run, metrics_of)


def test_the_page_has_them_collapsed_for_every_site(run, results):
    text = build_report(run, metrics_of).read_text(encoding="utf-8").replace(NO_BREAK, " ")
    section = re.search(r'<section aria-labelledby="sites">.*?</section>', text, re.DOTALL)[0]
    assert "<details open" not in section
    start = section.index("<details><summary>Further tests of the same loads")
    section = section[start : section.index("<details><summary>Loads that timed out")]
    primary = [cell for cell in results.cells if cell.metric == results.primary_metric]
    assert section.count("<tr>") == len(primary) + 1
    for said in ("Welch", "Kruskal-Wallis", "Games-Howell", "Mann-Whitney", "Cliff"):
        assert f'<th scope="col">{said}' in section.replace("&#x27;", "'")
    assert "undetermined<small>a load timed out, so there is no mean" in section


def test_the_summary_has_the_same(results):
    found = summary_of(results)["site_tests"]
    assert len(found) == len(results.cells)
    alike = [e for e in found if (e["site"], e["network"]) == ("startup", "dsl")]
    quic = next(e for e in alike if (e["stack"], e["metric"]) == ("quic", "speed_index_ms"))
    assert quic["welch_anova"]["p"] < 0.001 > quic["mann_whitney"]["p"]
    assert quic["games_howell"]["high"] < 0 and quic["cliffs_delta"]["value"] < -0.9
    assert quic["mean_difference"]["low"] < quic["mean_difference"]["value"] < 0
    late = next(e for e in found if e["welch_anova"]["p"] is None)
    assert (late["site"], late["network"], late["stack"]) == ("dashboard", "lte", "quic")
    assert "timed out" in late["welch_anova"]["undetermined_because"]
    assert late["kruskal_wallis"]["p"] is not None


def test_its_keys_are_in_the_reference(results):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    for name in ("site_tests", "timeouts_censored"):
        first = summary_of(results)[name][0]
        inner = {key for each in first.values() if isinstance(each, dict) for key in each}
        assert documented >= {*first, *inner}


def test_of_many_comparisons_the_primary_metrics_extremes_are_chosen(results):
    some = replace(results.cells[0], metric="primary")
    # A reference of 0 has no ratio.
    ratios = (1.1, 0.7, 1.0, math.inf, 1.4)
    cells = [
        replace(some, site=f"{ratio}", loads=(np.arange(1), np.ones(1), np.array([1 / ratio])))
        for ratio in ratios
    ]
    other = [replace(some, metric="other")]
    assert select_cells([*cells, *other], "primary", 6, 2) == [*cells, *other]
    assert select_cells([*cells, *other], "primary", 5, 5) == cells
    chosen = select_cells([*cells, *other], "primary", 5, 2)
    assert [each.site for each in chosen] == ["0.7", "1.4"] and cells[3].gain.value is None


def test_one_block_has_no_tests_and_says_nothing_of_them(tmp_path):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 1")
    results = read_run(tmp_path, text=text)
    assert further_tests(results) == "" and summary_of(results)["site_tests"] == []


def test_a_test_without_an_answer_has_no_column(results, quickstart_contents):
    """Ten blocks are enough for all of them, three for few: their names stand below the table."""
    of_ten, of_three = further_tests(results), further_tests(quickstart_contents)
    for name in ("Kruskal-Wallis, p", "mean difference, 95 % interval"):
        assert f">{name}<" in of_ten and f">{name}<" not in of_three
    assert "These need more blocks: " in of_three and "too few" not in of_three
    assert ">Welch's ANOVA, p<".replace("'", "&#x27;") in of_three


def test_p_values_claim_no_more_digits_than_they_have():
    assert [format_p(p) for p in (0.0312, 3e-5, 1e-12)] == ["0.031", "3e-05", "1e-10 or less"]


def test_loads_that_timed_out_are_compared_as_censored_values(run, results):
    text = build_report(run, metrics_of).read_text(encoding="utf-8").replace(NO_BREAK, " ")
    assert "Speed Index where loads timed out: 1 comparison<" in text
    (first,) = summary_of(results)["timeouts_censored"]
    assert (first["site"], first["network"], first["stack"]) == ("dashboard", "lte", "quic")
    assert (first["timeouts"], first["timeouts_reference"], first["pairs"]) == (1, 0, 10)
    limited = first["restricted_mean_difference"]
    cell = results.censored[0].cell
    # One load of ten at the limit, the others a tenth of a second apart.
    assert limited["value"] == pytest.approx((180_000 - cell.median_reference) / 10, rel=0.1)
    assert limited["low"] < 0 < limited["high"] and limited["p"] > 0.05
    assert first["log_rank"]["p"] is not None


def test_of_many_comparisons_with_timeouts_those_with_most_are_chosen(results):
    some = replace(results.cells[0], metric="primary")
    cells = [replace(some, timeouts=n, timeouts_reference=0) for n in (0, 1, 3, 2)]
    other = replace(some, metric="other", timeouts=9)
    assert select_timed_out([*cells, other], "primary", 4) == cells[1:]
    assert [e.timeouts for e in select_timed_out([*cells, other], "primary", 2)] == [3, 2]


def test_a_run_without_timeouts_has_no_censored_table(quickstart_contents):
    results = quickstart_contents
    assert results.censored == () and summary_of(results)["timeouts_censored"] == []
    assert "censored values" not in sites_section(results)
