"""Users by today's CrUX: round trips by its borders, rates by a stated rule."""

import json
import math

import pytest
from bad_samples import CRUX

from eyelevel.base.errors import NetworkError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.from_crux import is_crux, networks_from_crux, rate_mbit_s_of
from eyelevel.plan.networks.from_csv import toml_of
from eyelevel.plan.networks.presets import find_network

FINE = (
    "bin_start,bin_end,bin_density\n0,25,0.2\n25,50,0.2\n50,75,0.1\n75,150,0.3\n150,300,0.1\n"
    "300,,0.1\n"
)


def changed(**metric):
    answer = json.loads(CRUX)
    answer["record"]["metrics"]["round_trip_time"] |= metric
    return json.dumps(answer)


def test_an_answer_of_the_api_has_a_class_between_each_of_its_borders():
    low, middle, high = networks_from_crux(CRUX, "f")
    assert [each.network.name for each in (low, middle, high)] == [
        "rtt-below-75",
        "rtt-75-to-275",
        "rtt-from-275",
    ]
    assert [each.share for each in (low, middle, high)] == pytest.approx(
        [0.4518, 0.482, 0.0661], abs=1e-4
    )
    # The middle of the first bin; 1.5 times the beginning of the last, which has no end.
    assert (low.network.rtt_ms_min, high.network.rtt_ms_min) == (37.5, 412.5)
    # Its median is at 0.6928 of all; 0.4518 lie below 75 ms, 0.75 below the percentile of 126 ms:
    # 75 (126 / 75)^((0.6928 - 0.4518) / (0.75 - 0.4518)).
    assert middle.network.rtt_ms_min == pytest.approx(114.1, abs=0.05)


def test_without_the_percentile_a_bin_is_taken_as_even_on_a_logarithm():
    middle = networks_from_crux(changed(percentiles={}), "f")[1]
    assert middle.network.rtt_ms_min == pytest.approx((75 * 275) ** 0.5, abs=0.05)


@pytest.mark.parametrize(
    ("low", "middle", "p75_ms", "rtt_ms"),
    [
        # 0.4 above 275 ms, half of them below the share of 0.8: 320 x 1.5^((0.8 - 0.75) / 0.125).
        (0.3, 0.3, 320, 376.3),
        (0.3, 0.3, 900, 1058.5),
        # The median is the percentile itself, and a little on both sides of it is no jump.
        (0.25, 0.25, 320, 320.0),
        (0.25, 0.24, 320, 319.1),
        (0.25, 0.26, 320, 325.2),
        # The percentile is below the class.
        (0.3, 0.5, 200, 412.5),
    ],
)
def test_a_percentile_divides_a_last_bin_without_an_end(low, middle, p75_ms, rtt_ms):
    shares = (low, middle, 1 - low - middle)
    bins = [
        {"start": start, "end": end, "density": share}
        for start, end, share in zip((0, 75, 275), (75, 275, None), shares, strict=True)
    ]
    high = networks_from_crux(changed(histogram=bins, percentiles={"p75": p75_ms}), "f")[-1]
    assert high.network.name == "rtt-from-275"
    assert high.network.rtt_ms_min == pytest.approx(rtt_ms, abs=0.06)


def test_no_class_has_a_round_trip_outside_of_its_borders():
    """The last bin begins below the border: it has as much on either side as its rule gives it."""
    found = networks_from_crux("start,end,density\n0,150,0.5\n150,,0.5\n", "f")
    within = math.log(275 / 150) / math.log(2.25)
    assert found[-1].share == pytest.approx(0.5 * (1 - within))
    assert [each.network.rtt_ms_min for each in found[:1]] == [37.5]
    assert 75 < found[1].network.rtt_ms_min < 275 < found[2].network.rtt_ms_min


def test_a_percentile_that_the_bins_deny_is_left_out():
    assert networks_from_crux(changed(percentiles={"p75": 20}), "f") == networks_from_crux(
        changed(percentiles={}), "f"
    )


def test_bins_of_bigquery_are_put_together_and_form_factors_added():
    found = networks_from_crux(FINE, "f")
    # 0.4 below 50 ms and 0.5 below 75; a border within a bin divides it on a logarithm.
    inner = 0.1 * 0.8744
    assert [each.share for each in found] == pytest.approx(
        [0.5, 0.3 + inner, 0.2 - inner], abs=1e-4
    )
    assert found[0].network.rtt_ms_min == pytest.approx(25 * 2**0.25, abs=0.05)
    rows = FINE.splitlines()
    halves = [
        f"{kind},{row[: row.rindex(',')]},{float(row.rpartition(',')[2]) / 2}"
        for kind in ("phone", "desktop")
        for row in rows[1:]
    ]
    split = "\n".join(["form_factor," + rows[0], *halves])
    assert toml_of(networks_from_crux(split, "f")) == toml_of(found)


def test_a_bin_that_is_left_out_has_no_loads():
    whole = "bin_start,bin_end,bin_density\n0,50,0.3\n50,75,0\n75,150,0.4\n150,200,0\n200,,0.3\n"
    some = "\n".join(row for row in whole.splitlines() if not row.endswith(",0"))
    assert toml_of(networks_from_crux(some, "f")) == toml_of(networks_from_crux(whole, "f"))


def test_the_rule_is_that_of_its_sources_and_falls():
    for name in ("dsl", "lte"):
        preset = find_network(name)
        assert rate_mbit_s_of(preset.rtt_ms_min) == pytest.approx(preset.down_mbit_s)
    # Chromium's typical quality: 175 ms with 1600 kbit/s, 450 with 400, 1800 with 75.
    assert [rate_mbit_s_of(rtt) for rtt in (175, 450, 1800, 9000)] == pytest.approx(
        [1.6, 0.4, 0.075, 0.075]
    )
    assert rate_mbit_s_of(5) == 25
    rates = [rate_mbit_s_of(rtt) for rtt in range(20, 2000, 7)]
    assert rates == sorted(rates, reverse=True)


def test_a_rate_that_is_given_is_that_of_all_and_makes_a_plan():
    found = networks_from_crux(CRUX, "f", 10.0)
    assert {each.network.down_mbit_s for each in found} == {10.0}
    rest = 'sites = ["a"]\nstacks = ["tcp"]\nreference = "tcp"\nblocks = 2\n'
    assert parse_plan(rest + toml_of(found), "p").networks == tuple(e.network for e in found)


def test_what_is_crux_is_told_by_its_content():
    assert is_crux(CRUX) and is_crux("\ufeff" + CRUX) and is_crux("# a\n" + FINE)
    assert not is_crux(" # start density") and not is_crux("")
    assert not is_crux("percentile,rtt_ms,down_mbit_s\n25,30,40\n")
    assert not is_crux("name,density,rtt_ms,down_mbit_s\na,1,30,40\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "f:1:"),
        ("{}", "f: neither rows nor an answer of the CrUX API; write an object a row"),
        ('{"record": {}}', "f:record.metrics.round_trip_time: it has no such metric; ask for"),
        ('{"error": {"code": 404, "message": "chrome ux report data not found"}}', "not found"),
        (changed(histogram=None), "f:record.metrics.round_trip_time: no histogram"),
        (changed(histogram=[7]), "histogram[0]: no bin"),
        (changed(histogram=[{"start": "x", "density": 1}]), "histogram[0]: `x` is not a number"),
        (
            changed(histogram=[{"start": True, "density": 1}]),
            "histogram[0]: `True` is not a number",
        ),
        (changed(histogram=[]), "the densities of 0 bins add up to 0"),
        (changed(percentiles={"p75": -1}), "percentiles.p75: `-1` is not a number"),
        ("start,end,density\n0,75,0.4\n", "the densities of 1 bins add up to 0.4"),
        ("start,end,density\n0,75,0.4\n50,,0.6\n", "a bin from 50 to inf behind one to 75"),
        ("start,end,density\n0,,1\n", "f: one bin, from 0 without an end"),
        ("start,end,density\n0,75,4\n", "f:2: `4` is not a number from 0 to 1"),
        ("start,end,density,x\n", "f:1: unknown column `x`"),
        ("start,density\n", "f:1: no column `end`"),
    ],
)
def test_what_is_no_histogram_is_refused_with_its_place(text, said):
    with pytest.raises(NetworkError) as error:
        networks_from_crux(text, "f")
    assert said in str(error.value) and "\n" not in str(error.value)
