"""What is told of machines that a run waits for."""

import pytest

from eyelevel.cluster.names import SlotName
from eyelevel.cluster.presence import NOBODY_S, Presence


def slot(machine):
    return f"{SlotName(machine, 'host', 1, 1)}@tcp://127.0.0.1:1"


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
    assert count == 1 and "refused, 2 of 2; waiting for others" in line
    assert seen(2, slot("a"), refused=["a", "b"])[0] == 1
