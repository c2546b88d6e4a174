"""A slot whose loads fail far more often than the others' takes no further block."""

import pytest

from eyelevel.run.machines.retirement import SlotFailures, has_failed
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
        "5 of its last 20 loads failed by the instrument's fault, 2.0% of the other slots' 100"
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
