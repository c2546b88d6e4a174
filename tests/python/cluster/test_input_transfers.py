"""Recordings and traces go once to a machine, whichever of its slots requests them or ends."""

from eyelevel.cluster.names import SlotName
from eyelevel.cluster.slots import COMING_MAX, InputTransfers, NextStep
from eyelevel.run.block.inputs import Input

SITE, TRACE = Input("a" * 64, "site.wacz"), Input("b" * 64, "trace.log")


def slot(machine: str, number: int) -> str:
    return f"{SlotName(machine, 'host', number, 2)}@tcp://10.0.0.1:{number}"


ONE, TWO, OTHER = slot("m", 1), slot("m", 2), slot("n", 1)


def test_the_others_of_a_machine_wait_for_what_one_gets_and_then_look():
    transfers = InputTransfers()
    assert transfers.request(ONE, [SITE, TRACE]) == SITE
    assert transfers.request(TWO, [SITE, TRACE]) is NextStep.WAIT
    assert transfers.request(OTHER, [SITE]) == SITE, "another machine has nothing of it"
    assert transfers.is_pending(ONE) and not transfers.is_pending(TWO)
    assert transfers.on_received(ONE) == [(ONE, NextStep.LOOK), (TWO, TRACE)]
    assert transfers.request(ONE, [TRACE]) is NextStep.WAIT
    assert transfers.on_received(TWO) == [(TWO, NextStep.LOOK), (ONE, NextStep.LOOK)]
    assert transfers.on_received(OTHER) == [(OTHER, NextStep.LOOK)]


def test_who_asked_before_it_was_there_looks_first():
    transfers = InputTransfers()
    assert transfers.request(ONE, [SITE]) == SITE
    transfers.on_received(ONE)
    assert transfers.request(TWO, [SITE]) is NextStep.LOOK


def test_what_somebody_cleared_is_sent_again():
    transfers = InputTransfers()
    assert transfers.request(ONE, [SITE]) == SITE
    transfers.on_received(ONE)
    assert transfers.request(ONE, [SITE]) == SITE
    transfers.on_received(ONE)
    assert transfers.request(TWO, [SITE]) is NextStep.LOOK
    assert transfers.request(TWO, [SITE]) == SITE


def test_if_the_one_that_gets_it_goes_the_next_one_gets_it():
    transfers = InputTransfers()
    assert transfers.request(ONE, [SITE]) == SITE
    assert transfers.request(TWO, [SITE]) is NextStep.WAIT
    assert transfers.on_slot_left(ONE) == [(TWO, SITE)]
    assert transfers.on_received(TWO) == [(TWO, NextStep.LOOK)], "nobody waits that is gone"


def test_who_waits_and_goes_is_not_told():
    transfers = InputTransfers()
    assert transfers.request(ONE, [SITE]) == SITE
    assert transfers.request(TWO, [SITE]) is NextStep.WAIT
    assert transfers.on_slot_left(TWO) == []
    assert transfers.on_received(ONE) == [(ONE, NextStep.LOOK)]


def test_no_more_than_some_are_on_their_way_at_once():
    transfers = InputTransfers()
    slots = [slot(f"machine-{number}", 1) for number in range(COMING_MAX + 2)]
    asked = [transfers.request(each, [SITE]) for each in slots]
    assert asked == [SITE] * COMING_MAX + [NextStep.WAIT] * 2
    assert transfers.on_received(slots[0]) == [(slots[0], NextStep.LOOK), (slots[-2], SITE)]
    assert transfers.on_slot_left(slots[1]) == [(slots[-1], SITE)], (
        "nobody else asks again meanwhile"
    )
