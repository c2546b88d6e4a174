"""Loads that timed out: in the answer, below the gains and for machines."""

import re

import numpy as np
import pytest
from repository import ROOT
from synthetic_run import SITES, metrics_of, quickstart_against_tcp, read_run

from eyelevel.analysis.formats import MINUS, NO_BREAK
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.outcomes import timeouts_details

LIMIT_MS = 180_000.0


def run_of(directory, outcomes, **settings):
    text = quickstart_against_tcp()
    for name, value in settings.items():
        text = re.sub(rf"(?m)^{name} = .*$", f"{name} = {value}", text)
    return read_run(directory, outcomes, text)


def gain_of(results, network, stack):
    return next(
        gain
        for gain in summary_of(results)["gains"]
        if (gain["network"], gain["stack"], gain["metric"])
        == (network, stack, results.primary_metric)
    )


def answer_of(results):
    return " ".join(summary_of(results)["answer"]).replace(NO_BREAK, " ").replace(MINUS, "-")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    late = {("dashboard/lte/1", "quic"): "timeout"}
    return run_of(tmp_path_factory.mktemp("run"), late)


@pytest.fixture(scope="module")
def page(results):
    text = build_report(results.directory, metrics_of).read_text(encoding="utf-8")
    return text.replace(NO_BREAK, " ")


def test_a_timeout_counts_as_the_limit(results):
    found = gain_of(results, "lte", "quic")
    expected = {"count": 1, "count_reference": 0, "pairs": 6, "bound": "at least", "p": 1.0}
    expected |= {"limit_ms_min": LIMIT_MS, "limit_ms_max": LIMIT_MS, "p_holm": 1.0}
    assert found["timeouts"] == expected
    kept = results.blocks.kept.sort("block").filter(network="lte")

    def times(site, stack):
        own = kept.filter(site=site, stack=stack)["speed_index_ms"].to_numpy()
        return np.nan_to_num(own.astype(float), nan=LIMIT_MS)

    pairs = [(times(site, "quic"), times(site, "tcp")) for site in SITES]
    difference, gain = found["difference"], found["gain"]
    assert difference["value"] == pytest.approx(np.mean([(x - r).mean() for x, r in pairs]))
    assert difference["low"] < difference["value"] < difference["high"]
    log_gain = np.mean([np.log(x / r).mean() for x, r in pairs])
    assert gain["value"] == pytest.approx(np.expm1(log_gain)) and gain["low"] is not None


def test_one_timeout_proves_nothing_and_leaves_no_network_undetermined(tmp_path):
    results = run_of(tmp_path, {("startup/lte/2", "tcp"): "timeout"})
    for stack in ("tcp+", "quic"):
        found = gain_of(results, "lte", stack)
        assert found["timeouts"]["bound"] == "at most"
        assert found["gain"]["p"] > 0.05 and found["difference"]["p"] > 0.05
        assert found["verdict"] != "undetermined"


def test_the_answer_says_how_many_did_not_come(results):
    said = answer_of(results)
    assert (
        "Unfinished loads on lte: 1 of 6 with quic and 0 of 6 with tcp did not finish within 180 "
        "s (corrected p = 1); each counts as the limit (a longer one could only raise the gain); "
        "the mean difference is then +"
    ) in said
    assert said.count("Unfinished") == 1


def test_too_many_are_said_with_why_there_is_no_gain(tmp_path):
    late = {(f"dashboard/lte/{n}", "quic"): "timeout" for n in (1, 2)}
    results = run_of(tmp_path, late)
    said = answer_of(results)
    assert (
        "On lte, the comparison of quic with tcp is undetermined: 2 of 6 loads did not finish"
        in said
    )
    assert "Unfinished loads on lte: 2 of 6 with quic and 0 of 6" in said
    assert "each counts as the limit; the mean difference is then +" in said


def test_timeouts_on_many_networks_are_one_sentence(tmp_path):
    names = ("dsl", "lte", "3g", "da2gc")
    late = {(f"startup/{name}/1", "quic"): "timeout" for name in names}
    late |= {("startup/dsl/2", "tcp"): "timeout"}
    quoted = ", ".join(f'"{name}"' for name in names)
    said = answer_of(run_of(tmp_path, late, networks=f"[{quoted}]"))
    assert (
        "Unfinished loads on 4 networks: 4 of 24 loads with quic and 1 of 24 with tcp did not "
        "finish in time"
    ) in said
    assert said.count("Unfinished loads on") == 2  # that of tcp+ against the reference's one


def test_the_page_has_it_below_the_gains_collapsed(page):
    at = page.index("<details><summary>Where loads did not finish")
    assert page.index('id="gain"') < at < page.index('id="charts"')
    assert "<td>1 and 0 of 6</td>" in page[at:] and "<td>at least</td>" in page[at:]


def test_below_each_gain_stands_what_it_counts(results, page):
    table = page[page.index('id="gain"') : page.index("Where loads did not finish")]
    assert table.count("unfinished: 1 and 0 of 6; at least this") == len(results.metrics)


def test_without_timeouts_there_is_none(tmp_path):
    results = run_of(tmp_path, {})
    assert gain_of(results, "lte", "quic")["timeouts"]["count"] == 0
    assert timeouts_details(results) == "" and "Unfinished" not in answer_of(results)


def test_a_study_that_may_stop_has_counts_and_a_test_that_allows_for_looks(tmp_path):
    text = quickstart_against_tcp().replace("blocks = 3", "blocks = 8")
    text += "\n[stop]\nblocks_min = 6\n"
    results = read_run(tmp_path, {("startup/lte/2", "quic"): "timeout"}, text)
    found = gain_of(results, "lte", "quic")
    assert found["timeouts"]["count"] == 1 and found["timeouts"]["p"] == 1
    assert found["gain"]["low"] is not None and found["difference"]["low"] is None
    assert (
        "1 of 16 with quic and 0 of 16 with tcp did not finish within 180 s (corrected p = 1); each"
        in answer_of(results)
    )


def test_its_keys_are_in_the_reference(results):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    assert documented >= {"timeouts", *gain_of(results, "lte", "quic")["timeouts"]}
