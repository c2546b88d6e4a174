"""Each recording and trace goes once to a machine, whoever of its slots asks, dies or waits."""

from eyelevel.cluster.input_transfers import COMING_MAX, InputTransfers, Then
from eyelevel.cluster.names import SlotName
from eyelevel.run.block.inputs import Input

SITE, TRACE = Input("a" * 64, "site.wacz"), Input("b" * 64, "trace.log")


def slot(machine: str, number: int) -> str:
    return f"{SlotName(machine, 'host', number, 2)}@tcp://10.0.0.1:{number}"


ONE, TWO, OTHER = slot("m", 1), slot("m", 2), slot("n", 1)


def test_the_others_of_a_machine_wait_for_what_one_gets_and_then_look():
    transfers = InputTransfers()
    assert transfers.asked(ONE, [SITE, TRACE]) == SITE
    assert transfers.asked(TWO, [SITE, TRACE]) is Then.WAIT
    assert transfers.asked(OTHER, [SITE]) == SITE, "another machine has nothing of it"
    assert transfers.is_coming(ONE) and not transfers.is_coming(TWO)
    assert transfers.kept(ONE) == [(ONE, Then.LOOK), (TWO, TRACE)]
    assert transfers.asked(ONE, [TRACE]) is Then.WAIT
    assert transfers.kept(TWO) == [(TWO, Then.LOOK), (ONE, Then.LOOK)]
    assert transfers.kept(OTHER) == [(OTHER, Then.LOOK)]


def test_who_asked_before_it_was_there_looks_first():
    transfers = InputTransfers()
    assert transfers.asked(ONE, [SITE]) == SITE
    transfers.kept(ONE)
    assert transfers.asked(TWO, [SITE]) is Then.LOOK


def test_what_somebody_cleared_is_sent_again():
    transfers = InputTransfers()
    assert transfers.asked(ONE, [SITE]) == SITE
    transfers.kept(ONE)
    assert transfers.asked(ONE, [SITE]) == SITE
    transfers.kept(ONE)
    assert transfers.asked(TWO, [SITE]) is Then.LOOK
    assert transfers.asked(TWO, [SITE]) == SITE


def test_if_the_one_that_gets_it_goes_the_next_one_gets_it():
    transfers = InputTransfers()
    assert transfers.asked(ONE, [SITE]) == SITE
    assert transfers.asked(TWO, [SITE]) is Then.WAIT
    assert transfers.went(ONE) == [(TWO, SITE)]
    assert transfers.kept(TWO) == [(TWO, Then.LOOK)], "nobody waits that is gone"


def test_who_waits_and_goes_is_not_told():
    transfers = InputTransfers()
    assert transfers.asked(ONE, [SITE]) == SITE
    assert transfers.asked(TWO, [SITE]) is Then.WAIT
    assert transfers.went(TWO) == []
    assert transfers.kept(ONE) == [(ONE, Then.LOOK)]


def test_no_more_than_some_are_on_their_way_at_once():
    transfers = InputTransfers()
    slots = [slot(f"machine-{number}", 1) for number in range(COMING_MAX + 2)]
    asked = [transfers.asked(each, [SITE]) for each in slots]
    assert asked == [SITE] * COMING_MAX + [Then.WAIT] * 2
    assert transfers.kept(slots[0]) == [(slots[0], Then.LOOK), (slots[-2], SITE)]
    assert transfers.went(slots[1]) == [(slots[-1], SITE)], "nobody else asks again meanwhile"
