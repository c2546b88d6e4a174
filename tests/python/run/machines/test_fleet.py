"""Machines that differ from the first make times that differ: they are refused, or a class."""

from dataclasses import replace
from random import Random

import pytest

from eyelevel.run.machines.fleet import Evidence, Fleet

FACTS = {"kernel": "6.1", "browser": "Chromium 140", "cpu": "EPYC", "cores a slot": "2"}


def machine(name, load_ms=1000.0, processor_s=2.0, **facts):
    loads = [load_ms * share for share in (0.97, 0.99, 1.0, 1.01, 1.4)]
    processor = [processor_s * share for share in (0.9, 1.0, 1.0, 1.0, 1.3)]
    return Evidence(name, f"host-{name}", 4, FACTS | facts, loads, processor)


def classes(fleet):
    return classes_of(fleet.members)


def classes_of(members):
    return {name: number for name, (_, number) in members.items()}


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
        f"its {fact} is other and not {FACTS[fact]}, unlike host-a; "
        "--allow-heterogeneous takes it as another class"
    )


def test_mixed_takes_what_differs_as_classes_of_their_own():
    fleet = Fleet(allow_heterogeneous=True)
    for name, kernel in (("a", "6.1"), ("b", "6.6"), ("c", "6.6"), ("d", "6.9"), ("e", "6.1")):
        fleet.admit(machine(name, kernel=kernel))
    assert classes(fleet) == {"a": 1, "b": 2, "c": 2, "d": 3, "e": 1}


def test_two_machines_that_differ_in_times_wait_for_a_third():
    fleet = Fleet()
    assert fleet.admit(machine("a", load_ms=1100.0))[0].machine_class == 1
    assert fleet.admit(machine("b"))[0].machine_class == 1
    verdicts = {each.machine: each for each in fleet.admit(machine("c", load_ms=1004.0))}
    assert verdicts["c"].machine_class == 1
    assert (verdicts["a"].machine_class, verdicts["a"].is_admitted) == (2, False)
    assert verdicts["a"].reason.startswith("its page load time is +9.6% off the fleet's median")
    assert classes(fleet) == {"a": 2, "b": 1, "c": 1}


def test_one_that_was_put_out_has_its_class_for_good():
    fleet = Fleet()
    for name, load_ms in (("a", 1200.0), ("b", 1000.0), ("c", 1000.0)):
        fleet.admit(machine(name, load_ms))
    [verdict] = fleet.admit(machine("a"))  # it is as the others now, unlike its loads
    assert (verdict.machine_class, verdict.is_admitted) == (2, False)
    assert verdict.reason.startswith("its page load time is -16.7% off what it was when it loaded")
    [verdict] = fleet.admit(machine("a", load_ms=1200.0))
    assert (verdict.machine_class, verdict.is_admitted) == (2, False)
    fleet.allow_heterogeneous = True
    [verdict] = fleet.admit(machine("a", load_ms=1200.0))
    assert (verdict.machine_class, verdict.is_admitted) == (2, True)
    assert classes(fleet) == {"a": 2, "b": 1, "c": 1}


@pytest.mark.parametrize("allow_heterogeneous", [False, True])
@pytest.mark.parametrize(
    ("load_ms", "processor_s", "admitted"),
    [(1090.0, 2.0, True), (1120.0, 2.0, False), (1000.0, 2.6, True), (1000.0, 2.8, False)],
)
def test_a_machine_that_returns_with_other_times_is_refused(
    allow_heterogeneous, load_ms, processor_s, admitted
):
    fleet = Fleet(allow_heterogeneous)
    fleet.admit(machine("a"))
    [verdict] = fleet.admit(machine("a", load_ms, processor_s))
    assert (verdict.is_admitted, verdict.machine_class) == (admitted, 1)
    assert ("off what it was when it loaded blocks of this run" in verdict.reason) != admitted
    assert fleet.members["a"][0] == machine("a")


def test_one_that_returns_is_held_against_the_others_too():
    fleet = Fleet()
    for name, load_ms in (("a", 1040.0), ("b", 1000.0), ("c", 1000.0), ("d", 1000.0)):
        fleet.admit(machine(name, load_ms))
    [verdict] = fleet.admit(machine("a", 1070.0))
    assert (verdict.is_admitted, verdict.machine_class) == (False, 1)
    assert verdict.reason == "its page load time is +7.0% off the fleet's median"
    assert fleet.admit(machine("a", 1040.0))[0].is_admitted


def test_of_three_of_which_no_two_agree_the_one_in_the_middle_stays():
    fleet = Fleet()
    for name, load_ms in (("a", 1000.0), ("b", 2000.0)):
        fleet.admit(machine(name, load_ms))
    verdicts = fleet.admit(machine("c", load_ms=1400.0))
    assert [(each.machine, each.machine_class) for each in verdicts] == [
        ("b", 2),
        ("a", 3),
        ("c", 1),
    ]
    assert [each.is_admitted for each in verdicts] == [False, False, True]
    assert verdicts[1].reason == (
        "its page load time is -28.6% off the fleet's median, and no two of 3 machines are alike; "
        "--allow-heterogeneous takes it as another class"
    )


def test_of_three_two_that_agree_stay_though_the_third_moved_their_median():
    fleet = Fleet()
    for name, load_ms in (("a", 1000.0), ("b", 1060.0)):
        fleet.admit(machine(name, load_ms))
    [verdict] = fleet.admit(machine("c", load_ms=2000.0))
    assert (verdict.machine, verdict.machine_class) == ("c", None)
    assert classes(fleet) == {"a": 1, "b": 1}


def test_mixed_has_a_class_for_each_of_three_of_which_no_two_agree():
    fleet = Fleet(allow_heterogeneous=True)
    for name, load_ms in (("a", 1000.0), ("b", 2000.0), ("c", 1400.0)):
        fleet.admit(machine(name, load_ms))
    assert classes(fleet) == {"a": 3, "b": 2, "c": 1}


def test_those_that_join_later_put_nobody_out():
    fleet = Fleet()
    for name, load_ms in (("a", 1000.0), ("b", 1049.0), ("c", 1020.0)):
        fleet.admit(machine(name, load_ms))
    for name in "defghi":
        fleet.admit(machine(name, load_ms=975.0))
    assert set(classes(fleet).values()) == {1} and len(fleet.members) == 9
    [verdict] = fleet.admit(machine("b", load_ms=1049.0))  # of the same trial loads
    assert verdict.is_admitted


@pytest.mark.parametrize("allow_heterogeneous", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_only_the_third_machine_changes_a_class(allow_heterogeneous, seed):
    random, fleet = Random(seed), Fleet(allow_heterogeneous)
    for _ in range(60):
        before = dict(fleet.members)
        name = random.choice("abcdefghij")
        load_ms = 1000 * random.choice((1.0, 1.0, 1.04, 0.97, 1.2, 1.8))
        verdicts = fleet.admit(machine(name, load_ms, kernel=random.choice(("6.1", "6.1", "6.6"))))
        changed = {each for each in before if fleet.members[each] != before[each]}
        is_third = name not in before and list(classes_of(before).values()).count(1) == 2
        assert not changed or is_third, f"seed {seed}"
        assert all(fleet.members[each][0] == before[each][0] for each in changed)
        assert changed == {each.machine for each in verdicts} - {name}
        for each in verdicts:
            assert classes(fleet).get(each.machine) == each.machine_class
            assert allow_heterogeneous or not each.is_admitted or each.machine_class == 1


def test_it_is_counted_how_many_are_as_one_that_is_refused():
    fleet = Fleet()
    fleet.admit(machine("odd"))
    for name in ("a", "b", "c", "b"):
        fleet.admit(machine(name, kernel="6.6"))
    fleet.admit(machine("d", kernel="6.9"))
    assert [fleet.alike(name) for name in ("a", "b", "d", "odd")] == [3, 3, 1, 0]
    fleet.admit(machine("a"))
    assert [fleet.alike(name) for name in ("a", "b")] == [0, 2] and fleet.first() == "host-odd"


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
    fleet = Fleet(allow_heterogeneous=True)
    fleet.admit(machine("a"))
    [verdict] = fleet.admit(machine("a", kernel="6.6"))
    assert (verdict.is_admitted, verdict.machine_class) == (False, 1)
    assert verdict.reason == (
        "its kernel is 6.6 and not 6.1, as when it loaded blocks of this run; a run of its own "
        "takes it"
    )
    broken = replace(machine("a"), problems=("no lab can be built here",))
    [verdict] = fleet.admit(broken)
    assert (verdict.is_admitted, verdict.machine_class) == (False, 1)
    assert fleet.members["a"][0].facts == FACTS


def test_a_machine_of_another_class_stays_in_it_and_needs_mixed_again():
    fleet = Fleet(allow_heterogeneous=True)
    fleet.admit(machine("a"))
    assert fleet.admit(machine("b", kernel="6.6"))[0].machine_class == 2
    assert fleet.admit(machine("b", kernel="6.6"))[0].machine_class == 2
    fleet.allow_heterogeneous = False
    [verdict] = fleet.admit(machine("b", kernel="6.6"))
    assert (verdict.is_admitted, verdict.machine_class) == (False, 2)
    assert verdict.reason == "it is of class 2, as it was before; --allow-heterogeneous takes it"


def test_machines_that_are_off_in_opposite_ways_are_two_classes():
    fleet = Fleet(allow_heterogeneous=True)
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
