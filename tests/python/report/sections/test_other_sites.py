"""The mixed model over sites on the page and in the summary."""

import json
import re

import numpy as np
import pytest
from repository import ROOT
from synthetic_run import metrics_of, quickstart_against_tcp, read_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.stats.mixed_model import gain_over_sites
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.gains import other_sites_details

SITES = ("startup", "dashboard", "shop", "news", "mail")


def run_of(directory, sites, outcomes=None):
    text = quickstart_against_tcp().splitlines()
    text[0] = f"sites = {json.dumps(sites)}"  # the preset takes two
    return read_run(directory, outcomes, "\n".join(text))


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("run"), SITES, {("dashboard/lte/1", "quic"): "timeout"})


def test_from_five_sites_on_there_is_a_model_a_network_and_stack(results):
    found = {(e["network"], e["stack"]): e for e in summary_of(results)["other_sites"]}
    assert set(found) == {(n, s) for n in ("dsl", "lte") for s in ("tcp+", "quic")}
    quic = found["dsl", "quic"]
    assert quic["gain"]["low"] < -0.14 < quic["gain"]["high"] < 0 and quic["gain"]["p"] < 0.001
    kept = results.blocks.kept.sort("block")
    pairs = {
        site: tuple(
            kept.filter(site=site, network="dsl", stack=stack)["speed_index_ms"].to_numpy()
            for stack in ("quic", "tcp")
        )
        for site in SITES
    }
    assert quic["gain"]["value"] == pytest.approx(gain_over_sites(pairs).gain.value)
    assert found["lte", "quic"]["gain"]["low"] is not None  # one of its loads timed out
    assert found["lte", "quic"]["gain"]["value"] > found["lte", "tcp+"]["gain"]["value"]


def test_with_more_than_a_fifth_of_timeouts_there_is_none(tmp_path):
    late = {(f"{site}/lte/{n}", "quic"): "timeout" for site in SITES[:4] for n in (1, 2)}
    found = {
        (e["network"], e["stack"]): e
        for e in summary_of(run_of(tmp_path, SITES, late))["other_sites"]
    }
    assert "8 of 15 loads did not finish" in found["lte", "quic"]["gain"]["undetermined_because"]
    assert found["lte", "tcp+"]["gain"]["low"] is not None


def test_the_page_has_it_below_the_gains_collapsed(results):
    page = build_report(results.directory, metrics_of).read_text(encoding="utf-8")
    text = page.replace(NO_BREAK, " ")
    assert text.index('id="gain"') < text.index("On other sites like these")
    assert text.index("On other sites like these") < text.index('id="charts"')


def test_below_five_sites_there_is_none(tmp_path):
    results = run_of(tmp_path, SITES[:4])
    assert summary_of(results)["other_sites"] == [] and other_sites_details(results) == ""


def test_a_site_without_a_block_is_named(tmp_path):
    blocks = {(f"news/dsl/{n}", "quic"): "starved" for n in (1, 2, 3)}
    found = summary_of(run_of(tmp_path, SITES, blocks))["other_sites"]
    said = {e["network"]: e["gain"]["undetermined_because"] for e in found}
    assert said == {"dsl": "no complete block of news", "lte": None}


def test_its_keys_are_in_the_reference(results):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    assert documented >= set(summary_of(results)["other_sites"][0])
    assert np.isfinite(summary_of(results)["other_sites"][0]["deviation_sites"])
