"""What is told of machines that a run waits for."""

import pytest

from eyelevel.cluster.driver import NOBODY_S, PART_S, Presence
from eyelevel.cluster.names import SlotName


def slot(machine, number=1, count=1):
    return f"{SlotName(machine, 'host', number, count)}@tcp://127.0.0.1:{number}"


@pytest.fixture
def seen():
    clock, told = [0.0], []
    presence = Presence("tcp://127.0.0.1:9", told.append, lambda: clock[0])

    def see(now_s, *slots, refused=()):
        clock[0] = now_s
        presence.see(slots, refused)
        return len(told), told[-1] if told else ""

    return see


def test_that_nobody_comes_is_told_once_and_again_when_it_is_so_again(seen):
    assert seen(NOBODY_S) == (0, "")
    count, line = seen(NOBODY_S + 1)
    assert count == 1 and "for 10 minutes" in line
    assert "`eyelevel worker tcp://127.0.0.1:9`" in line and line.endswith("waiting on")
    assert seen(3 * NOBODY_S)[0] == 1
    assert seen(3 * NOBODY_S, slot("a"))[0] == 1
    assert seen(4 * NOBODY_S)[0] == 1
    assert seen(4 * NOBODY_S + 1)[0] == 2


def test_that_all_are_refused_is_told_once(seen):
    assert seen(0, slot("a"), slot("b"), refused=["a"])[0] == 0
    count, line = seen(1, slot("a"), slot("b"), refused=["a", "b", "c"])
    assert count == 1 and line == "all 2 machines that joined were refused; waiting for others"
    assert seen(2, slot("a"), refused=["a", "b"])[0] == 1


def test_a_machine_whose_slots_are_not_all_there_is_told_of_once(seen):
    part = [slot("a", number, 3) for number in (1, 3)]
    assert seen(0, *part)[0] == seen(PART_S, *part)[0] == 0
    count, line = seen(PART_S + 1, *part)
    assert count == 1 and "host (a) 2 of 3 slots have joined" in line
    assert "without slot 2:" in line
    assert seen(3 * PART_S, *part)[0] == 1


def test_a_machine_that_was_whole_once_may_lose_slots(seen):
    whole = [slot("a", number, 2) for number in (1, 2)]
    assert seen(0, *whole)[0] == seen(1, whole[0])[0] == seen(2 + PART_S, whole[0])[0] == 0
