import re

import polars as pl
import pytest
import vl_convert

from eyelevel.report.charts.chart import MARGIN, REACH, gain_extent
from eyelevel.report.charts.distribution import (
    ALL_SITES,
    cumulative,
    distribution_chart,
    gain_chart,
    gains_overview,
    sites_overview,
)

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
        gain_chart(gains, STACKS, ["quic against tcp"], "speed", {"speed": (-0.3, 0.1)}),
        distribution_chart(cumulative(loads(), ["speed"]), STACKS, "speed"),
    ):
        assert "<svg" in vl_convert.vegalite_to_svg(spec | {"width": 300})


CUT = pl.DataFrame(
    {
        "network": ["dsl", "lte", "3g"],
        "gain": [-0.05, -0.06, -0.06],
        "gain_low": [-0.9, -0.08, -0.1234],
        "gain_high": [0.02, -0.04, -0.01],
        "claim": ["no claim", "faster", "no claim"],
        "said": ["", "", ""],
        "site": ["a", "b", "c"],
        "metric": ["speed", "speed", "speed"],
        "stack": ["quic", "quic", "quic"],
        "comparison": ["quic against tcp", "tcp+ against tcp", "tcp++ against tcp"],
        "claimed": [False, True, False],
    }
)
EXTENT = (-0.1234, 0.02)


@pytest.mark.parametrize(
    "spec",
    [
        gains_overview(CUT, ["dsl", "lte", "3g"], EXTENT),
        sites_overview(CUT, ["a", "b", "c"], ["dsl", "lte", "3g"], EXTENT),
        gain_chart(CUT, STACKS, list(CUT["comparison"]), "speed", {"speed": EXTENT}),
    ],
    ids=["networks", "sites", "gains"],
)
def test_an_interval_that_the_axis_cuts_ends_in_an_arrow_at_its_end(spec):
    """One interval goes on to the left; to the left and to the right one ends at the bound."""
    svg = vl_convert.vegalite_to_svg(spec | {"width": 300})
    triangles = re.findall(r'transform="translate\(([-.\d]+),[-.\d]+\)" d="M[-.\d]+,0L', svg)
    assert [float(x) for x in triangles] == [0.0]


def test_each_metric_has_an_axis_of_its_own():
    """A layout shift of a few pixels may double, beside which a load time would show nothing."""
    rows = pl.concat([CUT, CUT.with_columns(metric=pl.lit("shift"))])
    extents = {"speed": EXTENT, "shift": (-6.0, 6.0)}

    def labels(metric):
        spec = gain_chart(rows, STACKS, list(CUT["comparison"]), metric, extents)
        svg = vl_convert.vegalite_to_svg(spec | {"width": 300})
        return re.findall(r">([^<]*%)<", svg)

    assert (labels("speed")[-1], labels("shift")[-1]) == ("+2%", "+600%")


def test_an_axis_has_every_dot_and_cuts_intervals_far_wider_than_the_gains():
    def within(extent, low, high):
        margin = MARGIN * (high - low)
        assert extent == pytest.approx((low - margin, high + margin))

    within(gain_extent([(-0.06, None, None), (-0.285, None, None)]), -0.285, 0.0)
    within(gain_extent([(-0.285, -9.0, 0.1), (None, None, None)]), -REACH * 0.285, 0.1)
