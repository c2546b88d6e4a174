"""Which cores a slot has is a fact: with more of them its loads are quicker."""

from eyelevel.plan.browser import Browser
from eyelevel.run.machines import evidence
from eyelevel.run.machines.fleet import Evidence, Fleet
from eyelevel.run.study.cores import Processors


def cores(count):
    return Processors(tuple(frozenset({number, number + count}) for number in range(count)))


def test_a_slot_that_roams_over_a_machine_is_not_like_one_of_several(monkeypatch):
    fleet, verdicts = Fleet(), []
    for machine, count in (("one", 2), ("two", 2), ("three", 16)):
        evidence.machine_facts.cache_clear()
        monkeypatch.setattr(Processors, "usable", lambda count=count: cores(count))
        facts = evidence.machine_facts(Browser())
        verdicts += fleet.admit(Evidence(machine, machine, 1, facts, [1000.0], [2.0]))
    evidence.machine_facts.cache_clear()
    assert [each.is_admitted for each in verdicts] == [True, True, False]
    said = "its cores a slot is 16 (with 32 hardware threads) and not 2 (with 4 hardware threads)"
    assert verdicts[2].reason.startswith(f"{said}, unlike one")
