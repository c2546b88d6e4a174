"""Chapter 6 of Das 2014: networks become links, and links have their quantiles by round trip."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import vl_convert
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.plan.networks.presets import NETWORKS, find_network
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.figures.cellular import cellular_quantiles, varying_links, why_not

TEXT = """\
sites = ["a", "b"]
networks = ["dsl", "das-att-300", "das-verizon-120", "das-verizon-30", "5g"]
stacks = ["tcp", "quic+das-2014", "quic+sprout"]
comparisons = [["quic+sprout", "quic+das-2014"], ["quic+das-2014", "tcp"]]
blocks = 1
primary_metric = "page_load_time_ms"
"""
LIMIT_S = 60.0


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, text=TEXT)
    return read_results(directory, metrics_of)


def with_loads(results, seconds):
    """The same with a load of each site, network and stack: `seconds` by stack, a list of sites."""
    rows = [
        {"network": network, "site": f"s{n}", "stack": stack, "page_load_time_ms": 1000 * value,
         "outcome": "ok" if math.isfinite(value) else "timeout"}
        for network in results.networks
        for stack, values in seconds.items()
        for n, value in enumerate(values)
    ]  # fmt: skip
    return replace(results, blocks=replace(results.blocks, kept=pl.DataFrame(rows)))


def places(networks):
    return varying_links(networks).select("link", "network", "rtt_ms").rows()


def test_networks_that_differ_in_their_round_trip_alone_are_of_one_link(results):
    assert places(results.plan.networks) == [
        ("das-att", "das-att-300", 300),
        ("das-verizon", "das-verizon-30", 30),
        ("das-verizon", "das-verizon-120", 120),
        ("5g", "5g", 51),
    ]
    courses = varying_links(results.plan.networks)["course"]
    assert set(courses) == {"cellular model"}


def test_no_preset_of_one_link_is_taken_for_another():
    links = varying_links(NETWORKS)
    assert not {"dsl", "das-3-30", "unshaped"} & set(links["network"])
    per_link = links.group_by("link").agg(pl.col("rtt_ms").n_unique(), count=pl.len())
    assert (per_link["rtt_ms"] == per_link["count"]).all()


def test_a_recorded_link_is_called_by_what_its_names_share_and_says_that_it_is_recorded():
    lte = replace(find_network("lte"), name="t-lte-near", trace_down_sha256="ab", rtt_ms_min=20.0)
    far = replace(lte, name="t-lte-far", rtt_ms_min=200.0)
    other = replace(lte, name="t-lte", trace_down_sha256="cd")
    assert places([far, lte, other]) == [
        ("t-lte", "t-lte-near", 20),
        ("t-lte", "t-lte-far", 200),
        ("t-lte-2", "t-lte", 20),
    ]
    assert set(varying_links([lte])["course"]) == {"recorded"}


def test_a_path_that_is_spelt_out_varies_if_a_stage_of_it_does():
    dsl = find_network("dsl")
    delay = {"stage": "delay", "delay_ms": 20.0}
    rate = {"stage": "rate", "rate_bit_s": 10**6}
    trace = {"stage": "trace", "trace": "sha256:" + 64 * "a"}
    for link, varies in ((rate, 0), (trace, 2)):
        near = replace(dsl, name="x-1", stages_down=(link,), stages_up=(link,))
        far = replace(near, name="x-2", stages_down=(delay, link), rtt_ms_min=44.0)
        found = varying_links([near, far])
        assert found.height == varies and found["link"].to_list() == ["x"] * varies


def test_medians_and_95th_percentiles_are_those_of_the_sites_with_their_change(results):
    sites = np.random.Generator(np.random.PCG64(3)).permutation(np.arange(1.0, 101.0))
    loads = {"tcp": sites, "quic+das-2014": sites, "quic+sprout": 0.9 * sites}
    rows = cellular_quantiles(with_loads(results, loads))
    assert rows.height == 4 * 2  # networks that vary, comparisons
    assert rows["network"].to_list()[::2] == [
        "das-att-300", "das-verizon-30", "das-verizon-120", "5g",
    ]  # fmt: skip
    row = rows.row(0, named=True)
    assert row["comparison"] == "quic+sprout against quic+das-2014" and row["sites"] == 100
    assert (row["median_s_reference"], row["p95_s_reference"]) == (50, 95)
    assert (row["median_s"], row["p95_s"]) == pytest.approx((45, 85.5))
    for name in ("median_change", "p95_change"):
        assert row[name] == pytest.approx(-0.1)
        assert row[f"{name}_low"] is None or row[f"{name}_low"] <= -0.1 <= row[f"{name}_high"]


def test_a_percentile_that_is_a_timeout_has_no_number_and_few_sites_no_interval(results):
    late = np.arange(1.0, 21.0)
    late[15:] = math.inf
    loads = {"tcp": np.arange(1.0, 21.0), "quic+das-2014": late, "quic+sprout": late * 0.9}
    rows = cellular_quantiles(with_loads(results, loads))
    row = rows.filter(comparison="quic+das-2014 against tcp").row(0, named=True)
    assert row["p95_s"] is None and row["p95_s_reference"] == 19
    assert row["median_s"] == 10 and row["p95_change"] is None
    assert row["p95_change_low"] is None and row["p95_change_high"] is None
    assert row["p95_change_undetermined_because"] == "20 sites are too few: it needs 40"


def figure(name):
    return next(each for each in (*FIGURES, *TABLES) if each.name == name)


@pytest.mark.parametrize("name", ["cellular-cdf", "congestion-cdf"])
def test_each_link_has_its_row_of_panels_with_dots_at_its_quantiles(results, name):
    sites = np.arange(1.0, 21.0)
    late = np.where(sites > 15, math.inf, sites)
    loads = with_loads(results, {"tcp": sites, "quic+das-2014": sites, "quic+sprout": late})
    rows = figure(name).rows(loads)
    assert rows["link"].unique(maintain_order=True).to_list() == ["das-att", "das-verizon", "5g"]
    assert ("tcp" in rows["stack"]) == (name == "cellular-cdf")
    chart = figure(name).chart(rows, loads)
    svg = vl_convert.vegalite_to_svg(chart)
    for text in ("das-verizon (cellular model)", ">30 ms<", ">120 ms<", ">300 ms<"):
        assert text in svg
    drawn = [pl.read_csv(text.encode()) for text in chart["datasets"].values()]
    dots = pl.concat(drawn).filter(dot=1)
    at = {(stack, share): seconds for stack, seconds, share in
          dots.select("stack", "seconds", "share").iter_rows()}  # fmt: skip
    assert at["quic+das-2014", 0.5] == at["quic+sprout", 0.5] == 10
    assert at["quic+das-2014", 0.95] == 19 and ("quic+sprout", 0.95) not in at


def test_what_a_run_lacks_for_its_controllers_is_told_by_networks_or_by_stacks(results):
    assert "different congestion controllers" in why_not("congestion-cdf", results)
    assert why_not("congestion-cdf", results).endswith("tcp, quic+das-2014, quic+sprout")


def test_legend_names_the_stacks_of_all_links(results):
    names = ("tcp", "quic+das-2014", "quic+sprout")
    loads = with_loads(results, {name: np.arange(1.0, 21.0) for name in names})
    rows = figure("cellular-cdf").rows(loads)
    first = rows["link"][0]
    some = rows.filter((pl.col("link") != first) | (pl.col("stack") == "tcp"))
    svg = vl_convert.vegalite_to_svg(figure("cellular-cdf").chart(some, loads))
    for name in names:
        assert f">{name}<" in svg
