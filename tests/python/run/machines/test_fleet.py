"""Machines that differ from the first make times that differ: they are refused, or a class."""

from dataclasses import replace

import pytest

from eyelevel.run.machines.fleet import Evidence, Fleet

FACTS = {"kernel": "6.1", "browser": "Chromium 140", "cpu": "EPYC", "cores a slot": "2"}


def machine(name, load_ms=1000.0, processor_s=2.0, **facts):
    loads = [load_ms * share for share in (0.97, 0.99, 1.0, 1.01, 1.4)]
    processor = [processor_s * share for share in (0.9, 1.0, 1.0, 1.0, 1.3)]
    return Evidence(name, f"host-{name}", 4, FACTS | facts, loads, processor)


def classes(fleet):
    return {name: number for name, (_, number) in fleet.members.items()}


def test_machines_like_the_first_are_of_its_class():
    fleet = Fleet()
    for name in "abcd":
        [verdict] = fleet.admit(machine(name))
        assert (verdict.machine, verdict.machine_class, verdict.reason) == (name, 1, "")


@pytest.mark.parametrize("fact", FACTS)
def test_a_machine_that_differs_in_any_fact_is_refused_with_it(fact):
    fleet = Fleet()
    fleet.admit(machine("a"))
    [verdict] = fleet.admit(machine("b", **{fact: "other"}))
    assert verdict.machine_class is None and classes(fleet) == {"a": 1}
    assert verdict.reason == (
        f"its {fact} is other and not {FACTS[fact]}, unlike host-a; --mixed takes it as another "
        "class"
    )


def test_mixed_takes_what_differs_as_classes_of_their_own():
    fleet = Fleet(mixed=True)
    for name, kernel in (("a", "6.1"), ("b", "6.6"), ("c", "6.6"), ("d", "6.9"), ("e", "6.1")):
        fleet.admit(machine(name, kernel=kernel))
    assert classes(fleet) == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 1}


def test_two_machines_that_differ_in_times_wait_for_a_third():
    fleet = Fleet()
    assert fleet.admit(machine("a", load_ms=1100.0))[0].machine_class == 1
    assert fleet.admit(machine("b"))[0].machine_class == 1
    verdicts = {each.machine: each for each in fleet.admit(machine("c", load_ms=1004.0))}
    assert verdicts["c"].machine_class == 1
    assert verdicts["a"].machine_class is None
    assert verdicts["a"].reason.startswith("its page load time is +9.6% off the fleet's median")
    assert classes(fleet) == {"b": 1, "c": 1}


@pytest.mark.parametrize(
    ("load_ms", "processor_s", "admitted"),
    [(1049.0, 2.0, True), (1051.0, 2.0, False), (1000.0, 2.29, True), (1000.0, 1.69, False)],
)
def test_the_bounds_are_of_the_medians(load_ms, processor_s, admitted):
    fleet = Fleet()
    for name in "abcd":
        fleet.admit(machine(name))
    [verdict] = fleet.admit(machine("e", load_ms, processor_s))
    assert (verdict.machine_class == 1) == admitted


def test_a_machine_that_comes_back_changed_is_refused_and_its_loads_stay_in_their_class():
    fleet = Fleet(mixed=True)
    fleet.admit(machine("a"))
    [verdict] = fleet.admit(machine("a", kernel="6.6"))
    assert (verdict.is_admitted, verdict.machine_class) == (False, 1)
    assert verdict.reason == "its kernel is 6.6 and not 6.1, as when it loaded blocks of this run"
    broken = replace(machine("a"), problems=("no lab can be built here",))
    [verdict] = fleet.admit(broken)
    assert (verdict.is_admitted, verdict.machine_class) == (False, 1)
    assert fleet.members["a"][0].facts == FACTS


def test_a_machine_of_another_class_stays_in_it_and_needs_mixed_again():
    fleet = Fleet(mixed=True)
    fleet.admit(machine("a"))
    assert fleet.admit(machine("b", kernel="6.6"))[0].machine_class == 2
    assert fleet.admit(machine("b", kernel="6.6"))[0].machine_class == 2
    fleet.mixed = False
    [verdict] = fleet.admit(machine("b", kernel="6.6"))
    assert (verdict.is_admitted, verdict.machine_class) == (False, 2)
    assert verdict.reason == "it is of class 2, as it was before; --mixed takes it"


def test_machines_that_are_off_in_opposite_ways_are_two_classes():
    fleet = Fleet(mixed=True)
    for name in "abc":
        fleet.admit(machine(name))
    assert fleet.admit(machine("d", load_ms=1150.0))[0].machine_class == 2
    assert fleet.admit(machine("e", load_ms=870.0))[0].machine_class == 3
    assert fleet.admit(machine("f", load_ms=1160.0))[0].machine_class == 2


def test_what_keeps_a_machine_from_loading_is_said():
    broken = replace(machine("a"), problems=("no lab can be built here",))
    [verdict] = Fleet().admit(broken)
    assert (verdict.machine_class, verdict.reason) == (None, "no lab can be built here")
    assert not verdict.is_admitted
