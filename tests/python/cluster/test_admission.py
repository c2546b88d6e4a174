"""Machines on their way to blocks: asked, judged, kept in `machines/`, asked anew on return.

No Dask here: a question's answer is given by the test.
"""

import json

import pytest

from eyelevel.base.errors import LabError
from eyelevel.cluster.admission import Admissions
from eyelevel.cluster.names import SlotName
from eyelevel.run.machines.fleet import MachineDescription, read_fleet
from eyelevel.run.study.slots import SlotAdded, SlotRetired
from eyelevel.store.machines import machine_file, read_machines
from eyelevel.store.packed import PackedTrial

FACTS = {"kernel": "6.1", "browser": "Chromium 140"}


class Questions:
    def describe_machine(self):
        raise AssertionError("it runs elsewhere")

    def measure_loads(self):
        raise AssertionError("it runs elsewhere")


class Fleet:
    """Machines of two slots each, and what they answer."""

    def __init__(self, directory, *, allow_heterogeneous=False):
        self.directory, self.allow_heterogeneous = directory, allow_heterogeneous
        self.told, self.asked, self.questions, self.processes = [], [], [], 0
        self.facts, self.load_ms, self.fails = {}, {}, {}
        self.begin()

    def begin(self):
        """A client, the first or one that resumes."""
        fleet = read_fleet(self.directory, allow_heterogeneous=self.allow_heterogeneous)
        self.slots = {}
        self.admissions = Admissions(
            self.submit, Questions(), fleet, self.directory, self.told.append
        )

    def submit(self, slot, question):
        future = object()
        self.asked.append((slot, question.__name__, future))
        self.questions.append(question.__name__)
        return future

    def come(self, machine, *numbers):
        """Slots of a machine, all by default; the events of their coming and of their answers."""
        events = []
        for number in numbers or (1, 2):
            self.processes += 1
            slot = f"{SlotName(machine, f'host-{machine}', number, 2)}@{self.processes}"
            self.slots[machine, number] = slot
            events += self.admissions.on_slot_joined(slot)
        return events + self.answered()

    def answered(self):
        events = []
        while self.asked:
            slot, question, future = self.asked.pop(0)
            machine = SlotName.of(slot).machine
            answer = [(self.load_ms.get(machine, 1000.0), 2.0)] * 5
            if question == "describe_machine":
                facts = FACTS | self.facts.get(machine, {})
                answer = MachineDescription(facts, (), {"cpu": f"of {machine}", "load_1min": 0.5})
            events += self.admissions.on_answer(slot, future, self.fails.get(machine, answer))
        return events

    def go(self, machine, *numbers):
        for number in numbers or (1, 2):
            self.admissions.on_slot_left(self.slots.pop((machine, number)))

    def ended(self, machine, number, *outcomes):
        trials = [PackedTrial("n", outcome, {}, {}) for outcome in outcomes]
        return self.admissions.on_loads_finished(self.slots[machine, number], trials)

    def kept(self, machine):
        return json.loads(machine_file(self.directory, machine).read_text())


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)


def joined(events):
    return [(each.machine, SlotName.of(each.slot).number) for each in events]


def test_a_machine_is_asked_when_all_its_slots_are_there_and_joins_as_a_whole(fleet):
    assert fleet.come("a", 1) == [] and not fleet.told
    assert joined(fleet.come("a", 2)) == [("a", 1), ("a", 2)]
    kept = read_machines(fleet.directory)["a"]
    assert (kept["class"], kept["reason"], kept["retired"]) == (1, "", [])
    assert kept["page_load_time_ms"] == [1000.0] * 10 and kept["facts"] == FACTS
    assert kept["environment"] == {"cpu": "of a", "load_1min": 0.5}


def test_a_machine_that_differs_is_refused_in_one_line_that_says_what_differs(fleet):
    fleet.come("a")
    fleet.facts["b"] = {"browser": "Chromium 141"}
    assert fleet.come("b") == []
    reason = "its browser is Chromium 141 and not Chromium 140, unlike host-a"
    reason += "; --allow-heterogeneous takes it as another class"
    assert fleet.told == [f"machine host-b was refused: {reason}; 1 of 2 admitted"]
    assert (fleet.kept("b")["class"], fleet.kept("b")["reason"]) == (None, reason)


def test_when_the_third_joins_the_odd_one_is_retired_and_its_blocks_are_a_class(fleet):
    fleet.load_ms["a"] = 1100.0
    assert fleet.come("a") and fleet.come("b")
    assert fleet.kept("a")["class"] == 1
    slots = {fleet.slots["a", 1], fleet.slots["a", 2]}
    events = fleet.come("c")
    assert {each.slot for each in events if isinstance(each, SlotRetired)} == slots
    assert joined(each for each in events if isinstance(each, SlotAdded)) == [("c", 1), ("c", 2)]
    assert (fleet.kept("a")["class"], fleet.kept("a")["admitted"]) == (2, False)
    assert fleet.kept("a")["reason"].startswith("its page load time is +10.0% off the fleet's")
    assert [fleet.kept(name)["class"] for name in "bc"] == [1, 1]


def test_so_it_is_of_one_of_an_earlier_start_that_is_not_here(fleet):
    fleet.load_ms["a"] = 1100.0
    fleet.come("a")
    fleet.begin()
    assert joined(fleet.come("b")) and joined(fleet.come("c"))
    assert fleet.kept("a")["class"] == 2 and "off the fleet's median" in fleet.kept("a")["reason"]


def test_one_that_was_put_out_keeps_its_class_whatever_it_is_when_it_comes_again(fleet):
    fleet.load_ms["a"] = 1200.0
    for name in "abc":
        fleet.come(name)
    was = fleet.kept("a")
    fleet.load_ms.clear()
    fleet.begin()
    fleet.told.clear()
    assert fleet.come("a") == []
    [line] = fleet.told
    assert "its page load time is -16.7% off what it was when it loaded blocks of this run" in line
    assert fleet.kept("a") == was | {"reason": fleet.kept("a")["reason"]}
    fleet.load_ms["a"], fleet.allow_heterogeneous = 1200.0, True
    fleet.begin()
    assert joined(fleet.come("a")) == [("a", 1), ("a", 2)]
    assert (fleet.kept("a")["class"], fleet.kept("a")["admitted"]) == (2, True)


def test_it_is_told_when_most_are_as_those_that_are_refused(fleet):
    fleet.facts = {name: {"kernel": "6.6"} for name in "bcd"}
    for name in "abcd":
        fleet.come(name)
    endings = [line.split("another class; ")[1] for line in fleet.told]
    assert endings == [
        "1 of 2 admitted",
        "1 of 3 admitted, 2 are like this one: a new run without host-a admits them",
        "1 of 4 admitted, 3 are like this one: a new run without host-a admits them",
    ]


def test_a_resumed_run_holds_to_the_first_runs_class(fleet):
    fleet.come("a")
    fleet.facts = {name: {"kernel": "6.6"} for name in "bc"}
    fleet.begin()
    assert fleet.come("b") == fleet.come("c") == []
    assert all("not 6.1, unlike host-a" in line for line in fleet.told) and len(fleet.told) == 2


def test_a_machine_that_returns_with_another_kernel_is_refused_and_its_loads_keep_their_class(
    fleet,
):
    fleet.come("a")
    fleet.go("a")
    fleet.facts["a"] = {"kernel": "6.6"}
    assert fleet.come("a") == []
    [line] = fleet.told
    assert "its kernel is 6.6 and not 6.1, as when it loaded blocks of this run" in line
    assert fleet.kept("a")["class"] == 1 and fleet.kept("a")["facts"] == FACTS


def test_a_machine_that_returns_as_it_was_is_asked_for_its_facts_alone(fleet):
    fleet.come("a")
    fleet.go("a")
    fleet.questions.clear()
    fleet.load_ms["a"] = 9000.0  # nobody asks
    assert joined(fleet.come("a")) == [("a", 1), ("a", 2)]
    assert fleet.kept("a")["page_load_time_ms"] == [1000.0] * 10
    assert fleet.questions == ["describe_machine"]


def test_a_slot_that_returns_to_an_admitted_machine_takes_blocks_at_once(fleet):
    fleet.come("a")
    fleet.go("a", 2)
    assert joined(fleet.come("a", 2)) == [("a", 2)] and not fleet.asked


def test_a_refused_machine_is_asked_again_when_it_was_gone_as_a_whole(fleet):
    fleet.come("a")
    fleet.facts["b"] = {"kernel": "6.6"}
    fleet.come("b")
    fleet.go("b", 1)
    assert fleet.come("b", 1) == []
    fleet.go("b")
    fleet.facts.clear()
    assert joined(fleet.come("b")) == [("b", 1), ("b", 2)]


def test_a_refused_machine_is_asked_again_when_each_of_its_slots_began_anew(fleet):
    fleet.fails["a"] = LabError("no lab")
    fleet.come("a")
    fleet.fails.clear()
    fleet.go("a", 1)
    assert fleet.come("a", 1) == [] and not fleet.asked
    fleet.go("a", 2)
    assert joined(fleet.come("a", 2)) == [("a", 1), ("a", 2)]


def test_it_is_refused_again_while_it_is_not_mended(fleet):
    fleet.fails["a"] = LabError("no lab")
    for _ in range(3):
        fleet.come("a")
        fleet.go("a")
    assert fleet.told == ["machine host-a was refused: no lab; 0 of 1 admitted"] * 3


def test_a_machine_that_returns_with_another_number_of_slots_loads_anew(fleet):
    fleet.come("a")
    fleet.go("a")
    fleet.load_ms["a"] = 1200.0
    fleet.slots["a", 1] = slot = f"{SlotName('a', 'host-a', 1, 1)}@alone"
    fleet.admissions.on_slot_joined(slot)
    assert fleet.answered() == []
    assert "its page load time is +20.0% off what it was" in fleet.told[0]


def test_a_question_that_fails_is_a_refusal_with_its_reason(fleet):
    fleet.fails["a"] = LabError("a trial load of dashboard was starved: late packets")
    assert fleet.come("a") == []
    assert fleet.told == [
        "machine host-a was refused: a trial load of dashboard was starved: late packets; "
        "0 of 1 admitted"
    ]


def test_of_slots_that_fail_one_answer_is_enough(fleet):
    fleet.come("a", 1)
    fleet.fails["a"] = LabError("no lab")
    fleet.come("a", 2)
    assert len(fleet.told) == 1


def test_what_answers_after_its_machine_was_asked_anew_is_not_heard(fleet):
    fleet.admissions.on_slot_joined(first := "a/1of2 host-a@1")
    fleet.admissions.on_slot_joined(second := "a/2of2 host-a@2")
    [(slot, _, late)] = fleet.asked
    fleet.asked.clear()
    fleet.admissions.on_slot_left(second)
    assert slot in (first, second)
    assert (
        fleet.admissions.on_answer(first, late, MachineDescription({"kernel": "6.1"}, ("no lab",)))
        == []
    )
    assert not fleet.told and not read_machines(fleet.directory)


def test_a_slot_whose_loads_fail_is_retired_with_its_reason_and_stays_so(fleet):
    fleet.come("a")
    fleet.ended("a", 1, *["ok"] * 30)
    events = fleet.ended("a", 2, *["ok", "starved"] * 5)
    assert events == [SlotRetired(fleet.slots["a", 2])]
    reason = (
        "5 of its last 10 loads failed because of the instrument, but 0.0% of the other slots' 30"
    )
    assert fleet.told == [f"slot 2 of machine host-a is retired: {reason}"]
    assert fleet.kept("a")["retired"] == [{"slot": 2, "reason": reason}]
    assert fleet.ended("a", 2, "starved") == []
    fleet.go("a", 2)
    assert fleet.come("a", 2) == []
    fleet.go("a")
    assert joined(fleet.come("a")) == [("a", 1)]
    fleet.begin()
    assert len(joined(fleet.come("a"))) == 2
    assert fleet.kept("a")["retired"] == [{"slot": 2, "reason": reason}]


def lose(fleet, machine, number, *blocks):
    """A slot is lost with each of these, and is back each time; the events of the last loss."""
    for block in blocks:
        slot = fleet.slots.pop((machine, number))
        fleet.admissions.on_slot_left(slot)
        events = fleet.admissions.on_slot_lost(slot, block, "no space left")
        fleet.come(machine, number)
    return events


def test_a_slot_that_is_lost_with_what_it_gets_is_retired_and_stays_so(fleet):
    fleet.come("a")
    lose(fleet, "a", 1, 4, 5, 6)
    reason = (
        "it was lost 3 or more times in a row, each with a block, the last time by no space left"
    )
    assert fleet.told == [f"slot 1 of machine host-a is retired: {reason}"]
    assert fleet.kept("a")["retired"] == [{"slot": 1, "reason": reason}]
    fleet.go("a")
    assert joined(fleet.come("a")) == [("a", 2)] and fleet.admissions.refused == set()
    lose(fleet, "a", 1, 7, 8, 9)  # it has none, but a late answer may say so
    assert len(fleet.told) == 1


def test_a_machine_that_is_lost_with_all_it_gets_is_told_in_one_line_and_takes_no_further_block(
    fleet,
):
    fleet.come("a")
    lose(fleet, "a", 2, 1)
    events = lose(fleet, "a", 1, 4, 5, 6)
    assert [SlotName.of(each.slot).number for each in events] == [2], "the other is on its way"
    [line] = fleet.told
    assert line.startswith("machine host-a takes no further block: each of its 2 slots was lost")
    assert fleet.admissions.refused == {"a"}
    fleet.go("a")
    assert fleet.come("a") == [] and fleet.admissions.refused == {"a"}
