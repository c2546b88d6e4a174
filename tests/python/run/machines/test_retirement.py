"""A slot whose loads fail far more often than the others', or that is lost with what it gets, takes
no further block; nor does a machine all of whose slots are lost so."""

import heapq

import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.run.machines.fleet import LOSSES_IN_A_ROW, SlotFailures, SlotLosses, has_failed
from eyelevel.run.study.dispatch import Dispatch
from eyelevel.store.packed import PackedTrial


def fed(slot, others):
    """What is said of a slot after its loads; `others`: loads and failures of all others."""
    failures = SlotFailures()
    loads, failed = others
    assert failures.add("b/1", [False] * (loads - failed) + [True] * failed) == ""
    said = [failures.add("a/1", [each]) for each in slot]
    return said[-1]


FIVE = [True, False, False, False] * 5
FOUR = [False] * 4 + [True, False, False, False] * 4


@pytest.mark.parametrize(
    ("slot", "others", "retired"),
    [
        (FIVE, (100, 0), True),
        (FOUR, (100, 0), False),
        (FIVE, (96, 6), True),  # exactly four times as often
        (FIVE, (95, 6), False),
        (FIVE, (20, 0), True),
        (FIVE, (19, 0), False),
        ([True] * 5, (100, 0), True),
        (FIVE + [False] * 20, (100, 0), False),  # the last twenty count
    ],
)
def test_five_failures_in_twenty_loads_four_times_the_fleets_rate(slot, others, retired):
    assert bool(fed(slot, others)) == retired


def test_the_reason_has_the_numbers():
    assert fed(FIVE, (100, 2)) == (
        "5 of its last 20 loads failed because of the instrument, but 2.0% of the other slots' 100"
    )


def test_a_slot_alone_is_never_retired():
    assert SlotFailures().add("a/1", [True] * 40) == ""


@pytest.mark.parametrize(
    ("outcome", "failed_attempts", "failed"),
    [("ok", 0, False), ("ok", 1, True), ("starved", 0, True), ("timeout", 0, False)],
)
def test_an_attempt_that_was_mended_is_a_failure_and_a_timeout_is_none(
    outcome, failed_attempts, failed
):
    assert has_failed(PackedTrial("n", outcome, {}, {}, "", failed_attempts)) == failed


def lost(losses, *blocks, number=1, count=2):
    return [losses.on_lost("m", number, count, block) for block in blocks]


def test_a_slot_that_is_lost_with_whatever_it_gets_takes_no_other():
    losses = SlotLosses()
    assert lost(losses, 4, 7, 9) == [[], [], [1]]


def test_what_one_block_does_is_the_blocks_fault():
    losses = SlotLosses()
    assert lost(losses, 4, 4, 4) == [[], [], []]
    assert lost(losses, 7) == [[1]]


def test_a_block_that_ends_shows_that_the_slot_can():
    losses = SlotLosses()
    lost(losses, 4, 7)
    losses.on_block_finished("m", 1)
    assert lost(losses, 9, 11, 13) == [[], [], [1]]


def test_it_is_the_machine_if_all_of_its_slots_were_lost_with_their_last_block():
    losses = SlotLosses()
    lost(losses, 5, number=2)
    assert lost(losses, 4, 7, 9)[-1] == [1, 2]
    losses.on_block_finished("m", 2)
    assert lost(losses, 11) == [[1]]


def test_a_machine_that_begins_anew_once_has_lost_a_block_a_slot_and_goes_on():
    losses = SlotLosses()
    assert not any(
        losses.on_lost("m", number, 13, block) for number, block in enumerate(range(13), start=1)
    )


PLAN = """sites = ["a"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 400
"""


@pytest.mark.parametrize("odd", [(), ("m15",), ("m14", "m15")])
def test_of_a_fleet_only_a_machine_that_loses_what_it_gets_is_left_out_and_no_block_is_lost(odd):
    """16 machines of 3 slots in virtual time; an odd one's slots are lost in a fifth of a block's
    time, and are back after half of one. All others are lost once, amid a block."""
    dispatch = Dispatch(expand(parse_plan(PLAN, "plan"), [Site("a", "a")]))
    losses, retired, lost_once, vain = SlotLosses(), set(), set(), 0
    events, names = [], iter(range(10**9))

    def join(place):
        if place not in retired:
            dispatch.join(slot := f"{next(names)}", place[0])
            at[slot] = place

    at = {}
    for place in [(f"m{machine}", number) for machine in range(16) for number in (1, 2, 3)]:
        join(place)
    now_s, done = 0.0, 0
    while not dispatch.is_done:
        for slot, block in dispatch.starts(now_s):
            fails = at[slot][0] in odd or (block.number > 60 and at[slot] not in lost_once)
            heapq.heappush(events, (now_s + (2.0 if fails else 10.0), slot, block, fails))
        now_s, slot, block, fails = heapq.heappop(events)
        if block is None:
            join(at[slot])
        elif fails:
            vain += 1
            lost_once.add(at[slot])
            assert dispatch.lose(slot) is None, "a block is given up"
            machine, number = at[slot]
            retired |= {
                (machine, each) for each in losses.on_lost(machine, number, 3, block.number)
            }
            heapq.heappush(events, (now_s + 5.0, slot, None, False))
        else:
            losses.on_block_finished(*at[slot])
            done += len(dispatch.take_results(slot, [trial.hash for trial in block.trials]))
    assert done == 2 * 400
    assert retired == {(machine, number) for machine in odd for number in (1, 2, 3)}
    assert vain <= 3 * 16 + 3 * LOSSES_IN_A_ROW * len(odd), "they were told soon"
