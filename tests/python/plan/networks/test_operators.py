"""Operators' links: models with the means of the texts, each of its own course, until recorded."""

import sys

import numpy as np
import pytest
from repository import ROOT

from eyelevel.base.errors import NetworkError
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import (
    LINKS,
    LINKS_BY_NAME,
    find_network,
    get_network,
    recordings,
)
from eyelevel.plan.traces.mahimahi import mean_rate_bit_s, parse_mahimahi

SHARED = ROOT.parent / "shared/data/traces"
THESIS = ROOT.parent / "shared/papers/das-2014-thesis.txt"
MAHIMAHI = (
    "ATT-LTE-driving-2016",
    "ATT-LTE-driving",
    "TMobile-LTE-driving",
    "TMobile-LTE-short",
    "TMobile-UMTS-driving",
    "Verizon-EVDO-driving",
    "Verizon-LTE-driving",
    "Verizon-LTE-short",
)


def test_four_operators_by_two_technologies():
    operators = ("verizon", "att", "tmobile", "sprint")
    assert sorted(LINKS_BY_NAME) == sorted(f"{o}-{t}" for o in operators for t in ("lte", "3g"))
    for name in LINKS_BY_NAME:
        assert find_network(name).course() == "cellular model"
        assert find_network(name).cells()["course"] == "model"
        assert "in the mean (cellular model)" in find_network(name).described()


@pytest.mark.skipif(not THESIS.exists(), reason="the text is not at hand (../shared/papers)")
def test_the_means_are_the_thesis_own():
    # Section 6.3, which has its uplink first.
    text = THESIS.read_text(encoding="utf-8")
    for name, operator in (("verizon-lte", "Verizon's"), ("att-lte", "AT&T's")):
        network = find_network(name)
        said = f"({network.rate_up_bit_s / 1e6:g} Mbits/sec uplink and {network.down_mbit_s:g} "
        assert said in text[text.index(f"{operator} bandwidth is") :][:120]
        assert network.rtt_ms_min == 120


@pytest.mark.skipif(not SHARED.exists(), reason="no recorded traces are here (../shared/data)")
def test_the_means_are_the_recordings_own_where_these_are_at_hand():
    for way, mbit_s in zip(("down", "up"), LINKS_BY_NAME["tmobile-3g"].mbit_s, strict=True):
        file = SHARED / f"TMobile-UMTS-driving.{way}"
        trace = parse_mahimahi(file.read_text(encoding="ascii"), file.name)
        assert mean_rate_bit_s(trace) / 1e6 == pytest.approx(mbit_s, abs=0.005)


@pytest.mark.skipif(not SHARED.exists(), reason="no recorded traces are here (../shared/data)")
def test_the_seeds_are_the_nearest_to_recorded_courses(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    from benchmarks.path.cellular_fit import fitted

    seeds = {(name, way): (seed, distance) for name, way, seed, distance in fitted(SHARED)}
    for link in LINKS:
        assert (seeds[link.name, "down"][0], seeds[link.name, "up"][0]) == link.seeds
    assert max(distance for _, distance in seeds.values()) < 0.13


def test_each_has_a_course_of_its_own_in_each_direction():
    used = [seed for link in LINKS for seed in link.seeds]
    assert len(used) == len({*used})
    by_second = {}
    for link in LINKS:
        path = lab_path(link.model())
        for way, place in (("down", 1), ("up", 0)):
            trace = np.array(path[way][place]["trace"])
            rate = mean_rate_bit_s(trace)
            assert rate == pytest.approx(getattr(link.model(), f"rate_{way}_bit_s"), rel=1e-3)
            by_second[link.name, way] = np.bincount(trace // 1000, minlength=60)[:60] / rate
    pairs = np.corrcoef(list(by_second.values())) - np.eye(len(by_second))
    assert np.abs(pairs).max() < 0.9


def test_a_link_is_had_at_any_round_trip_and_has_one_name():
    far = find_network("att-3g-300")
    assert (far.name, far.rtt_ms_min) == ("att-3g-300", 300)
    assert far.synth_down == find_network("att-3g").synth_down
    assert get_network("att-3g-120.0") == find_network("att-3g")
    for name in ("att-3g-0", "att-3g-99999", "att-5g", "att-3g-", "att-3g-3x", "xatt-3g"):
        with pytest.raises(NetworkError):
            find_network(name)


def test_mahimahis_recordings_are_recognised_the_drives_first():
    files = [f"{stem}.{way}" for stem in MAHIMAHI for way in ("up", "down")]
    found = recordings([*files, "README", "Makefile.am", "orange-4G.down", "Sprint-LTE.down"])
    assert {name: down.removesuffix(".down") for name, (down, _) in found.items()} == {
        "att-lte": "ATT-LTE-driving",
        "tmobile-lte": "TMobile-LTE-driving",
        "tmobile-3g": "TMobile-UMTS-driving",
        "verizon-3g": "Verizon-EVDO-driving",
        "verizon-lte": "Verizon-LTE-driving",
    }
    assert all(up == f"{down.removesuffix('down')}up" for down, up in found.values())


@pytest.mark.parametrize("stem", ["AT&T-HSPA+", "at&t_3g_1", "T-Mobile-4G.drive", "Sprint-eHRPD-x"])
def test_other_ways_to_write_operators_and_technologies(stem):
    (name,) = recordings([f"{stem}.down", f"{stem}.up"])
    assert name in LINKS_BY_NAME
