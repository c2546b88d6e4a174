"""Gains that a timeout leaves undetermined, of the mean times up to the limit."""

import re
from pathlib import Path

import numpy as np
import pytest

from eyelevel.plan import preset_text
from eyelevel.report import build_report, read_contents, summary_of
from eyelevel.report.restricted_table import restricted_details
from eyelevel.report.synthetic import SITES, metrics_of, write_run
from eyelevel.report.words import NO_BREAK
from eyelevel.stats import mean_gain, performance_gain

LIMIT_MS = 180_000.0


def run_of(directory, outcomes):
    write_run(directory, outcomes, preset_text("quickstart", SITES))
    return read_contents(directory, metrics_of)


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    late = {("dashboard/lte/1", "quic"): "timeout", ("dashboard/lte/2", "quic"): "timeout"}
    return run_of(tmp_path_factory.mktemp("run"), late)


def test_a_timeout_counts_as_the_limit(contents):
    (found,) = summary_of(contents)["gains_up_to_limit"]
    assert (found["network"], found["stack"]) == ("lte", "quic")
    assert (found["timeouts"], found["timeouts_reference"]) == (2, 0)
    kept = contents.blocks.kept.sort("block").filter(network="lte")

    def times(site, arm):
        own = kept.filter(site=site, arm=arm)["speed_index_ms"].to_numpy()
        return np.nan_to_num(own.astype(float), nan=LIMIT_MS)

    gains = [performance_gain(times(site, "quic"), times(site, "tcp")) for site in SITES]
    assert found["gain"] == pytest.approx(mean_gain(gains).value)
    assert found["gain_low"] == pytest.approx(mean_gain(gains).low)
    assert found["gain"] > 10  # the limit is a hundred loads long


def test_the_page_has_it_below_the_gains_collapsed(contents):
    page = build_report(contents.directory, metrics_of).read_text(encoding="utf-8")
    text = page.replace(NO_BREAK, " ")
    at = text.index("<details><summary>Where loads timed out")
    assert text.index('id="gain"') < at < text.index('id="charts"')
    assert "<td>2 and 0 of 6</td>" in text[at:]


def test_without_timeouts_there_is_none(tmp_path):
    contents = run_of(tmp_path, {})
    assert summary_of(contents)["gains_up_to_limit"] == []
    assert restricted_details(contents) == ""


def test_a_site_without_a_block_leaves_no_mean_over_the_sites(tmp_path):
    late = {("dashboard/lte/1", "quic"): "timeout"}
    late |= {(f"startup/lte/{n}", "tcp"): "starved" for n in (1, 2, 3)}
    assert run_of(tmp_path, late).restricted_gains == ()


def test_its_keys_are_in_the_reference(contents):
    reference = Path(__file__).parents[3] / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    assert documented >= set(summary_of(contents)["gains_up_to_limit"][0])
