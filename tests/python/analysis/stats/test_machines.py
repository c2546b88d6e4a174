"""Machines as a factor, against R (vectors/statistics/r.R) and against what must hold."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from repository import ROOT

from eyelevel.analysis.stats.machines import gain_over_machines, largest_distance

R = json.loads((ROOT / "vectors" / "statistics" / "r.json").read_text(encoding="utf-8"))


def r(name):
    """R's numbers by what they are."""
    (found,) = [numbers for command, numbers in R.items() if command.startswith(f"{name}: ")]
    return found


@pytest.fixture(scope="module")
def given():
    y, site, machine = (R[f"given, blocks: {name}"] for name in ("y", "site", "machine"))
    return np.array(y), np.array(site, int) - 1, np.array(machine, int) - 1


@pytest.fixture(scope="module")
def found(given):
    return gain_over_machines(*given, 6)


def test_the_test_of_machines(found):
    test = found.test
    expected = pytest.approx(r("machines, F test"), rel=1e-9)
    assert [test.statistic, *test.degrees_of_freedom, test.p] == expected


@pytest.fixture(scope="module")
def against_batches():
    y, site, machine = (np.array(R[f"given, long: {name}"]) for name in ("y", "site", "machine"))
    return gain_over_machines(y, site.astype(int), machine.astype(int) - 1, 3)


def test_of_many_blocks_machines_are_held_against_batches(against_batches):
    test = against_batches.test
    expected = pytest.approx(r("machines against batches, F test"), rel=1e-9)
    assert [test.statistic, *test.degrees_of_freedom, test.p] == expected


def test_so_are_their_gains(against_batches):
    first = against_batches.machines[0].gain
    expected = np.expm1(r("machines against batches, gain of the first"))
    assert [first.value, first.low, first.high] == pytest.approx(expected, rel=1e-9)


def test_each_machines_gain_over_all_sites_with_its_interval(found):
    bounds = [[each.gain.value, each.gain.low, each.gain.high] for each in found.machines]
    expected = np.expm1(np.reshape(r("machines, gains with bounds"), (6, 3)))
    assert np.array(bounds) == pytest.approx(expected, rel=1e-9)


def test_distances_of_machines_from_their_mean_after_holm(found):
    distances = [each.distance for each in found.machines]
    assert distances == pytest.approx(r("machines, distances"), rel=1e-9)
    ps = [each.p_holm for each in found.machines]
    assert ps == pytest.approx(r("machines, distances, p after Holm"), rel=1e-9)
    assert largest_distance(found.machines) == 3


def test_p_is_twice_the_smaller_of_the_test_of_all_and_that_of_the_farthest(found):
    of_farthest = min(each.p_holm for each in found.machines)

    def p_with(of_all):
        return replace(found, test=replace(found.test, p=of_all)).p

    assert p_with(of_farthest / 2) == of_farthest
    assert p_with(1.0) == 2 * of_farthest
    assert replace(found, test=replace(found.test, p=0.9), machines=found.machines[:0]).p == 1.0


def test_deviations_by_restricted_likelihood(found):
    deviations = [found.deviation_machines, found.deviation_blocks]
    assert deviations == pytest.approx(r("machines, deviations"), rel=1e-4)


def test_the_interval_of_another_machine(found):
    other = found.other_machines
    expected = np.expm1(r("another machine"))
    assert [other.value, other.low, other.high] == pytest.approx(expected, rel=1e-4)
    assert other.p is None and other.n == 6


def test_of_even_blocks_a_machines_gain_is_its_blocks_mean():
    draw = np.random.Generator(np.random.PCG64(18))
    y = draw.normal(-0.1, 0.05, (3, 4, 5))  # sites x machines x blocks
    site, machine, _ = np.indices(y.shape)
    found = gain_over_machines(y.ravel(), site.ravel(), machine.ravel(), 4)
    gains = [math.log1p(each.gain.value) for each in found.machines]
    assert gains == pytest.approx(y.mean(axis=(0, 2)))


def test_below_five_machines_nothing_is_said_of_others(given):
    y, site, machine = given
    few = machine < 4
    found = gain_over_machines(y[few], site[few], machine[few], 4)
    assert found.test.determined and found.deviation_machines is not None
    assert found.other_machines.reason == "fewer than 5 machines"


@pytest.mark.parametrize(
    ("sites", "machines", "said"),
    [
        ([0, 0, 1, 1], [1, 1, 1, 1], "one machine has nothing to differ from"),
        ([0, 0, 1, 1], [0, 0, 1, 1], "machines loaded different sites"),
        ([0, 0, 1], [0, 1, 1], "too few blocks"),
    ],
)
def test_what_cannot_be_told_says_why(sites, machines, said):
    y = [0.1, 0.2, 0.3, 0.15][: len(sites)]
    found = gain_over_machines(y, sites, machines, 2)
    assert said in found.test.reason and said in found.other_machines.reason
    assert [each.gain.value for each in found.machines] == [None, None]
    assert largest_distance(found.machines) is None


def test_a_machine_without_a_block_has_no_gain_and_takes_none_from_the_others(given):
    y, site, machine = given
    found = gain_over_machines(y, site, machine + (machine >= 2), 7)
    assert found.machines[2].gain.reason == "no complete block is left"
    without = gain_over_machines(y, site, machine, 6)
    assert (*found.machines[:2], *found.machines[3:]) == without.machines


def test_blocks_without_spread_show_nothing():
    found = gain_over_machines(np.full(8, 0.1), [0] * 8, [0, 1] * 4, 2)
    assert found.test.reason == "the runs show no spread"
