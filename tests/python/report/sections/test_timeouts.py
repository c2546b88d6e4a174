"""Gains that a timeout leaves undetermined, of the mean times up to the limit."""

import re

import numpy as np
import pytest
from made_up_run import SITES, metrics_of, read_run
from repository import ROOT

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.timeouts import mean_difference
from eyelevel.plan.presets import preset_text
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.timeouts import restricted_details
from eyelevel.stats.estimate import Estimate, undetermined

LIMIT_MS = 180_000.0


def run_of(directory, outcomes):
    return read_run(directory, outcomes, preset_text("quickstart", SITES))


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    late = {("dashboard/lte/1", "quic"): "timeout", ("dashboard/lte/2", "quic"): "timeout"}
    return run_of(tmp_path_factory.mktemp("run"), late)


def test_a_timeout_counts_as_the_limit(contents):
    (found,) = summary_of(contents)["differences_up_to_limit"]
    assert (found["network"], found["stack"]) == ("lte", "quic")
    assert (found["timeouts"], found["timeouts_reference"], found["pairs"]) == (2, 0, 6)
    kept = contents.blocks.kept.sort("block").filter(network="lte")

    def times(site, stack):
        own = kept.filter(site=site, stack=stack)["speed_index_ms"].to_numpy()
        return np.nan_to_num(own.astype(float), nan=LIMIT_MS)

    means = [(times(site, "quic") - times(site, "tcp")).mean() for site in SITES]
    difference = found["difference"]
    assert difference["value"] == pytest.approx(np.mean(means))
    assert difference["low"] < difference["value"] < difference["high"]


def test_one_timeout_proves_nothing(tmp_path):
    late = {("startup/lte/2", "tcp"): "timeout"}
    found = summary_of(run_of(tmp_path, late))["differences_up_to_limit"]
    assert {each["stack"] for each in found} == {"tcp+", "quic"}
    assert all(each["difference"]["p"] > 0.05 for each in found)


def test_over_sites_errors_add_in_squares():
    sites = [Estimate(3.0, standard_error=2.0, degrees_of_freedom=4.0, n=5)] * 2
    found = mean_difference(sites)
    assert found.value == 3.0 and found.standard_error == pytest.approx(2 / np.sqrt(2))
    assert found.degrees_of_freedom == pytest.approx(8)
    assert mean_difference([*sites, undetermined("because")]).reason == "because"


def test_the_page_has_it_below_the_gains_collapsed(contents):
    page = build_report(contents.directory, metrics_of).read_text(encoding="utf-8")
    text = page.replace(NO_BREAK, " ")
    at = text.index("<details><summary>Where loads timed out")
    assert text.index('id="gain"') < at < text.index('id="charts"')
    assert "<td>2 and 0 of 6</td>" in text[at:]


def test_without_timeouts_there_is_none(tmp_path):
    contents = run_of(tmp_path, {})
    assert summary_of(contents)["differences_up_to_limit"] == []
    assert restricted_details(contents) == ""


def test_a_site_without_a_block_leaves_no_mean_over_the_sites(tmp_path):
    late = {("dashboard/lte/1", "quic"): "timeout"}
    late |= {(f"startup/lte/{n}", "tcp"): "starved" for n in (1, 2, 3)}
    assert run_of(tmp_path, late).restricted_differences == ()


def test_its_keys_are_in_the_reference(contents):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    assert documented >= set(summary_of(contents)["differences_up_to_limit"][0])
