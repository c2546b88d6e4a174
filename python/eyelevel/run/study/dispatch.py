"""Assign a plan's blocks to slots, and account for committed trials.

All drivers share this bookkeeping, which has no process, file or clock of its own. A driver reports
events (`join`, `take_results`, `lose`, `retire`, `end_networks`, `interrupt`) and queries what to
do (`starts`, `overdue`, `closed`). A block runs on one slot, in its order, and after a loss it is
run again from its first uncommitted trial. There are as many blocks in progress as slots, in the
plan's order and across repetitions; none is started twice on purpose, since the quicker copy would
win, and that selects fast loads.

Early decisions are made at closed prefixes of the plan (every block up to a repetition is
committed), so that they do not depend on the number of slots or their speed.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from eyelevel.plan.trials import Trial

LOSSES_MAX = 3
"""A block that has lost this many slots is given up; it would lose more."""


@dataclass(frozen=True)
class StopDecision:
    """The decision to stop: the repetition after which each network's loads end, and the reason."""

    networks: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""

    def is_over(self, trial: Trial) -> bool:
        """Return whether this trial is not needed any more."""
        return trial.repetition > self.networks.get(trial.network, trial.repetition)


@dataclass(frozen=True)
class Block:
    """The loads that are compared with each other; `number` is its place in the plan's order."""

    number: int
    trials: tuple[Trial, ...]

    @property
    def repetition(self) -> int:
        """The repetition of the block in the plan."""
        return self.trials[0].repetition


@dataclass(frozen=True)
class GivenUp:
    """A block that is given up: its slots were lost LOSSES_MAX times."""

    trials: tuple[Trial, ...]
    machines: tuple[str, ...]
    """The machines that lost it, in order, with reasons as far as known."""


@dataclass(frozen=True)
class _Work:
    block: int
    since_s: float


class Dispatch:
    """The state of one run. Times are in seconds, by any one clock; slots have unique names."""

    def __init__(
        self,
        trials: Sequence[Trial],
        committed: Collection[str] = (),
        limits_s: Callable[[Block], float] = lambda _: float("inf"),
    ) -> None:
        """`trials`: all of the plan in its order; `committed`: their hashes, as far as committed.

        `limits_s`: the longest time of a block.
        """
        self._blocks = [
            Block(number, tuple(group))
            for number, (_, group) in enumerate(groupby(trials, key=lambda trial: trial.block))
        ]
        self._number_of = {
            trial.hash: block.number for block in self._blocks for trial in block.trials
        }
        there = set(committed)
        self._left = {
            block.number: left
            for block in self._blocks
            if (left := [trial for trial in block.trials if trial.hash not in there])
        }
        self._waiting = sorted(self._left)
        self._open = Counter(self._blocks[number].repetition for number in self._left)
        self._last = self._blocks[-1].repetition if self._blocks else 0
        self._closed = 0
        self._limits_s = limits_s
        self._machines: dict[str, str] = {}
        self._retired: set[str] = set()
        self._work: dict[str, _Work] = {}
        self._losses: dict[int, list[tuple[str, str]]] = {}
        self._ended = StopDecision()
        self._is_interrupted = False
        self._close()

    # Events.

    def join(self, slot: str, machine: str = "") -> None:
        """Add a slot, which gets blocks from now on. Raises ValueError if it exists."""
        if slot in self._machines:
            raise ValueError(f"slot {slot} is there already")
        self._machines[slot] = machine

    def take_results(
        self, slot: str, trials: Collection[str], *, is_last: bool = True
    ) -> list[Trial]:
        """Take the hashes of trials that a slot returned, and return those to commit, in order.

        Committed trials are not committed again: a slot that was considered lost may still return
        its block, before or after the second run of it. `is_last`: the slot is free.
        """
        returned = set(trials)
        taken: list[Trial] = []
        for number in sorted({self._number_of[name] for name in returned} & self._left.keys()):
            left = self._left[number]
            taken += [trial for trial in left if trial.hash in returned]
            self._set_left(number, [trial for trial in left if trial.hash not in returned])
        work = self._work.pop(slot, None) if is_last else None
        if work and work.block in self._left:
            heapq.heappush(self._waiting, work.block)
        return taken

    def lose(self, slot: str, *, is_blamed: bool = True, why: str = "") -> GivenUp | None:
        """Remove a lost slot; return the block to commit as failed, or None.

        `is_blamed`: whether its block may be the cause. `why`: the reason, as far as known.
        """
        machine = self._machines.pop(slot)
        self._retired.discard(slot)
        work = self._work.pop(slot, None)
        if work is None or work.block not in self._left:
            return None
        losses = self._losses.setdefault(work.block, [])
        losses += [(machine, why)] if is_blamed else []
        if len(losses) < LOSSES_MAX:
            heapq.heappush(self._waiting, work.block)
            return None
        given_up = GivenUp(
            tuple(self._left[work.block]),
            tuple(f"{each} ({why})" if why else each for each, why in losses),
        )
        self._set_left(work.block, [])
        return given_up

    def retire(self, slot: str) -> None:
        """Retire a slot: it may finish its block, and gets no other."""
        self._retired.add(slot)

    def end_networks(self, ended: StopDecision) -> None:
        """Apply a stop decision: no further blocks of these networks are started."""
        before, self._ended = self._ended, ended
        for left in self._left.values():
            if ended.is_over(left[0]) and not before.is_over(left[0]):
                self._open[left[0].repetition] -= 1
        self._close()

    def interrupt(self) -> None:
        """Start no further block."""
        self._is_interrupted = True

    # Queries.

    def starts(self, now_s: float) -> list[tuple[str, Block]]:
        """Return the blocks to start now, with their slots; they have only uncommitted trials."""
        started = []
        for slot in self._machines:
            if slot in self._work or slot in self._retired:
                continue
            number = None if self._is_interrupted else self._take_block(self._machines[slot])
            if number is None:
                continue
            self._work[slot] = _Work(number, now_s)
            started.append((slot, Block(number, tuple(self._left[number]))))
        return started

    def overdue(self, now_s: float) -> list[str]:
        """Return the slots that exceed the sum of their block's limits, so that they must hang."""
        return [
            slot
            for slot, work in self._work.items()
            if now_s - work.since_s > self._limits_s(self._blocks[work.block])
        ]

    @property
    def closed(self) -> int:
        """The last repetition up to which every needed block is committed."""
        return self._closed

    @property
    def is_done(self) -> bool:
        """Whether no block is in progress and none is left to start."""
        return not self._work and (self._is_interrupted or self._next_waiting() is None)

    def _set_left(self, number: int, left: list[Trial]) -> None:
        if left:
            self._left[number] = left
            return
        (first, *_) = self._left.pop(number)
        if not self._ended.is_over(first):
            self._open[first.repetition] -= 1
            self._close()

    def _close(self) -> None:
        while self._closed < self._last and not self._open[self._closed + 1]:
            self._closed += 1

    def _take_block(self, machine: str) -> int | None:
        """Remove and return the first waiting block for this machine, or None."""
        for_others = []
        while (number := self._next_waiting()) is not None:
            heapq.heappop(self._waiting)
            if not self._is_for_others(number, machine):
                break
            for_others.append(number)
        for each in for_others:
            heapq.heappush(self._waiting, each)
        return number

    def _is_for_others(self, number: int, machine: str) -> bool:
        """Return whether a block that this machine lost should wait for another machine.

        The other one must not have lost it, too. A failing machine asks for blocks more often than
        those that load them.
        """
        lost_on = {each for each, _ in self._losses.get(number, ())}
        return machine in lost_on and any(
            each not in lost_on
            for slot, each in self._machines.items()
            if slot not in self._retired
        )

    def _next_waiting(self) -> int | None:
        """Return the first waiting block, or None, and drop blocks that are not needed any more."""
        while self._waiting:
            number = self._waiting[0]
            left = self._left.get(number)
            if left and not self._ended.is_over(left[0]):
                return number
            heapq.heappop(self._waiting)
        return None
