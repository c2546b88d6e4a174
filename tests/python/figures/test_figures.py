import polars as pl
import pytest
import vl_convert

from eyelevel.figures.distribution import ALL_SITES, cumulative, distribution_chart
from eyelevel.figures.gain_chart import gain_chart

STACKS = ["tcp", "quic"]


def loads():
    rows = [
        ("a", "tcp", "ok", 300.0),
        ("a", "tcp", "ok", 100.0),
        ("a", "quic", "ok", 90.0),
        ("a", "quic", "timeout", None),
        ("b", "tcp", "ok", 500.0),
        ("b", "quic", "ok", None),
    ]
    table = pl.DataFrame(rows, schema=["site", "stack", "outcome", "speed"], orient="row")
    return table.with_columns(network=pl.lit("dsl"))


def curve(site, stack):
    rows = cumulative(loads(), ["speed"]).filter(pl.col("site") == site, pl.col("stack") == stack)
    return rows.select("value", "share").rows()


def test_a_curve_climbs_by_one_load_a_step():
    assert curve("a", "tcp") == [(100, 0), (100, 0.5), (300, 1)]


def test_a_timeout_keeps_the_curve_below_one():
    assert curve("a", "quic") == [(90, 0), (90, 0.5)]


def test_a_load_without_the_metric_is_in_no_curve():
    assert curve("b", "quic") == []


def test_all_sites_are_one_curve():
    assert [share for _, share in curve(ALL_SITES, "tcp")] == [0, pytest.approx(1 / 3), 2 / 3, 1]


def test_long_curves_are_thinned_but_end_at_one():
    many = pl.DataFrame({"speed": [float(value) for value in range(5000)]}).with_columns(
        site=pl.lit("a"), stack=pl.lit("tcp"), outcome=pl.lit("ok"), network=pl.lit("dsl")
    )
    rows = cumulative(many, ["speed"]).filter(pl.col("site") == "a")
    assert rows.height == 201 and rows["share"].max() == 1 and rows["value"].max() == 4999


def test_of_many_sites_single_ones_have_the_primary_metric_only():
    rows = [(f"s{n}", "tcp", "ok", 1.0, 2.0) for n in range(13)]
    names = ["site", "stack", "outcome", "speed", "load"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(network=pl.lit("dsl"))
    single = cumulative(table, ["speed", "load"]).filter(pl.col("site") != ALL_SITES)
    assert set(single["metric"]) == {"speed"} and single["site"].n_unique() == 13


def test_vega_draws_both_charts():
    gains = pl.DataFrame(
        {
            "metric": "speed",
            "stack": "quic",
            "comparison": "quic against tcp",
            "gain": -0.1,
            "gain_low": -0.2,
            "gain_high": 0.0,
            "claimed": True,
        }
    )
    for spec in (
        gain_chart(gains, STACKS, ["quic against tcp"], "speed", (-0.3, 0.1)),
        distribution_chart(cumulative(loads(), ["speed"]), STACKS, "speed"),
    ):
        assert "<svg" in vl_convert.vegalite_to_svg(spec | {"width": 300})
