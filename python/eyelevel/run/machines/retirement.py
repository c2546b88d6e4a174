"""Decide which slots are retired: those that fail too often, or are lost again and again."""

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from eyelevel.store.outcomes import OUTCOMES_BY_NAME
from eyelevel.store.packed import PackedTrial

FAILURES_MIN, LOADS = 5, 20
RATE_RATIO_MIN = 4.0
"""A slot is retired after FAILURES_MIN failures in its last LOADS loads, if that is RATE_RATIO_MIN
times the rate of all other slots; if loads fail everywhere, the cause is elsewhere."""


LOSSES_IN_A_ROW, LOST_BLOCKS_MIN = 3, 2
"""The losses in a row after which a slot is retired, and the blocks that they must be spread over:
a single block may itself be the cause, and is given up after as many losses."""


def has_failed(trial: PackedTrial) -> bool:
    """Return whether the instrument failed in any attempt, even if a retry succeeded."""
    return trial.failed_attempts > 0 or OUTCOMES_BY_NAME[trial.outcome].fault == "instrument"


@dataclass
class _Counted:
    last: deque[bool] = field(default_factory=lambda: deque(maxlen=LOADS))
    loads: int = 0
    failures: int = 0


class SlotFailures:
    """The failures of one run by slot name, which stays the same when a slot's process restarts."""

    def __init__(self) -> None:
        self._slots: dict[str, _Counted] = defaultdict(_Counted)

    def add(self, slot: str, failed: Iterable[bool]) -> str:
        """Count a slot's loads in their order; return why the slot is to be retired, or "".

        It is "" until the other slots have LOADS loads: a rate of fewer is too uncertain.
        """
        counted = self._slots[slot]
        for each in failed:
            counted.last.append(each)
            counted.loads += 1
            counted.failures += each
        failures = sum(counted.last)
        others = [each for name, each in self._slots.items() if name != slot]
        loads = sum(each.loads for each in others)
        if failures < FAILURES_MIN or loads < LOADS:
            return ""
        rate = sum(each.failures for each in others) / loads
        if failures / len(counted.last) < RATE_RATIO_MIN * rate:
            return ""
        return (
            f"{failures} of its last {len(counted.last)} loads failed because of the "
            f"instrument, but {rate:.1%} of the other slots' {loads}"
        )


class SlotLosses:
    """The losses of one run by machine and slot number, which survive restarts of a slot's
    process."""

    def __init__(self) -> None:
        self._in_a_row: dict[tuple[str, int], list[int]] = defaultdict(list)

    def on_block_finished(self, machine: str, number: int) -> None:
        """Forget a slot's losses, since it finished a block."""
        self._in_a_row.pop((machine, number), None)

    def on_lost(self, machine: str, number: int, count: int, block: int) -> list[int]:
        """Record that a slot was lost with a block; return the numbers of slots to retire.

        These are all `count` slots of the machine if each was lost with its last block: then the
        machine is at fault, and one message covers them.
        """
        losses = self._in_a_row[machine, number]
        losses.append(block)
        if len(losses) < LOSSES_IN_A_ROW or len(set(losses)) < LOST_BLOCKS_MIN:
            return []
        every = list(range(1, count + 1))
        is_machine = all(self._in_a_row.get((machine, each)) for each in every)
        return every if is_machine else [number]
