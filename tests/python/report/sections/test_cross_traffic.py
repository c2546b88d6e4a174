import math

import polars as pl
import pytest
from synthetic_run import metrics_of, read_run, write_run

from eyelevel.analysis.cross_traffic import twins
from eyelevel.analysis.study import read_results
from eyelevel.report.page import summary_of
from eyelevel.report.sections.cross_traffic import cross_traffic_section

TEXT = """\
sites = ["startup", "dashboard"]
networks = [
  "dsl",
  { name = "busy", base = "lte", cross_traffic = { congestion_control = "bbr", flows = 2 } },
]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 6
cross_traffic = { congestion_control = "cubic", flows = 1, direction = "down" }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return read_run(directory, text=TEXT)


def test_a_network_is_compared_with_its_like_without_cross_traffic(results):
    assert twins(results.plan) == {"dsl+cross": "dsl", "busy": None}


def test_the_harm_of_doubled_times_is_a_half(results):
    found = summary_of(results)["cross_traffic"]
    harms = {(h["network"], h["stack"], h["metric"]): h for h in found["harm"]}
    assert {network for network, _, _ in harms} == {"dsl+cross"}
    for stack in ("tcp", "quic"):
        harm = harms["dsl+cross", stack, "speed_index_ms"]
        assert harm["without"] == "dsl"
        assert harm["harm"]["low"] < 0.5 < harm["harm"]["high"]
        assert harm["harm"]["value"] == pytest.approx(0.5, abs=0.03)


def test_a_site_that_lost_a_stacks_loads_leaves_its_harm_undetermined(tmp_path):
    """The harm of the stack whose loads are all there stays determined."""
    lost = {(f"dashboard/dsl+cross/{n}", "quic"): "starved" for n in range(1, 7)}
    write_run(tmp_path, lost, text=TEXT)
    found = summary_of(read_results(tmp_path, metrics_of))["cross_traffic"]["harm"]
    of_stack = {
        stack: [each["harm"] for each in found if each["stack"] == stack]
        for stack in ("tcp", "quic")
    }
    assert of_stack["tcp"] and all(harm["value"] is not None for harm in of_stack["tcp"])
    reasons = {harm["undetermined_because"] for harm in of_stack["quic"]}
    assert reasons == {"no complete block of dashboard"}


def test_a_timeout_beside_cross_traffic_leaves_the_harm_its_value(tmp_path):
    """It counts as its limit, in the geometric mean over sites of the ratios within blocks."""
    results = read_run(tmp_path, {("dashboard/dsl+cross/3", "quic"): "timeout"}, text=TEXT)
    harms = summary_of(results)["cross_traffic"]["harm"]
    (found,) = [
        each["harm"]
        for each in harms
        if (each["stack"], each["metric"]) == ("quic", "speed_index_ms")
    ]
    kept = results.blocks.kept.filter(stack="quic").with_columns(
        pl.col("speed_index_ms").fill_null(pl.col("limit_ms"))
    )
    wide = kept.pivot("network", index=["site", "repetition"], values="speed_index_ms")
    wide = wide.drop_nulls(["dsl", "dsl+cross"])
    assert wide.height == 12
    ratios = (wide["dsl"] / wide["dsl+cross"]).log()
    assert found["value"] == pytest.approx(1 - math.exp(ratios.mean()))
    assert found["low"] < found["value"] < found["high"]


def test_flows_are_told_by_network_and_stack(results):
    flows = summary_of(results)["cross_traffic"]["flows"]
    busy = next(each for each in flows if (each["network"], each["stack"]) == ("busy", "quic"))
    assert busy["goodput_bit_s"] == [["bbr down", 10e6], ["bbr down", 10e6]]
    assert busy["fairness_index"] == {"down": 1.0} and busy["page_share"] == 0.25
    assert busy["loads"] == 12


def test_the_section_says_where_the_harm_is_not_known(results):
    section = cross_traffic_section(results)
    assert "The harm of busy is unknown" in section and "with the same settings" in section


def test_a_plan_without_cross_traffic_has_no_section(tmp_path):
    kept = "\n".join(line for line in TEXT.splitlines() if "cross_traffic" not in line)
    results = read_run(tmp_path, text=kept)
    assert summary_of(results)["cross_traffic"] is None
    assert cross_traffic_section(results) == ""
