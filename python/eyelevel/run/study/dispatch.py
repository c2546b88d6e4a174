"""Assign a plan's blocks to slots, and account for committed trials: the same bookkeeping for all
drivers, without a process, a file or a clock of its own.

A driver tells what happened (`join`, `come`, `lose`, `retire`, `end_networks`, `interrupt`) and
asks what to do (`starts`, `overdue`, `closed`). A block is whole: it is on one slot, in its order,
and what is lost of it is run again from its first trial that is not committed. As many are under
way as there are slots, in the plan's order and across repetitions; none is started twice on
purpose, since the quicker copy would win, and that selects fast loads.

What is decided early is decided at closed prefixes of the plan (every block up to a repetition is
committed), so it does not depend on how many slots there were or how fast they came.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from eyelevel.plan.trials import Trial

LOSSES_MAX = 3
"""A block is given up after it has lost this many slots; it would lose more."""


@dataclass(frozen=True)
class StopDecision:
    """The decision to stop: the repetition after which each network's loads end, and the reason."""

    networks: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""

    def is_over(self, trial: Trial) -> bool:
        """Return whether this trial is not to be run any more."""
        return trial.repetition > self.networks.get(trial.network, trial.repetition)


@dataclass(frozen=True)
class Block:
    """The loads that are compared with each other; `number` is its place in the plan's order."""

    number: int
    trials: tuple[Trial, ...]

    @property
    def repetition(self) -> int:
        """The plan's."""
        return self.trials[0].repetition


@dataclass(frozen=True)
class GivenUp:
    """A block that is run no more: its slots were lost, LOSSES_MAX times."""

    trials: tuple[Trial, ...]
    machines: tuple[str, ...]
    """The machines that lost it, in order, with reasons as far as known."""


@dataclass(frozen=True)
class _Work:
    block: int
    since_s: float


class Dispatch:
    """The state of one run. Times are of any one clock, in seconds; slots have unique names."""

    def __init__(
        self,
        trials: Sequence[Trial],
        committed: Collection[str] = (),
        limits_s: Callable[[Block], float] = lambda _: float("inf"),
    ) -> None:
        """`trials`: all of the plan in its order; `committed`: hashes of those that are there.
        `limits_s`: how long a block may take at most."""
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

    # What happened.

    def join(self, slot: str, machine: str = "") -> None:
        """A slot takes blocks from now on."""
        if slot in self._machines:
            raise ValueError(f"slot {slot} is there already")
        self._machines[slot] = machine

    def take_results(
        self, slot: str, trials: Collection[str], *, is_last: bool = True
    ) -> list[Trial]:
        """Return a slot returned trials (by hash); those that are to be committed, in their order.

        What is committed already is not, whoever returns it: of a slot that was thought lost the
        answer may come late, and the block's second run after it. `is_last`: the slot is free.
        """
        returned = set(trials)
        taken: list[Trial] = []
        for number in sorted({self._number_of[name] for name in returned} & self._left.keys()):
            left = self._left[number]
            taken += [trial for trial in left if trial.hash in returned]
            self._keep(number, [trial for trial in left if trial.hash not in returned])
        work = self._work.pop(slot, None) if is_last else None
        if work and work.block in self._left:
            heapq.heappush(self._waiting, work.block)
        return taken

    def lose(self, slot: str, *, is_blamed: bool = True, why: str = "") -> GivenUp | None:
        """Remove a lost slot; return the block to commit as failed, or None.

        `is_blamed`: whether its block may have been why. `why`: as far as it is known.
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
        self._keep(work.block, [])
        return given_up

    def retire(self, slot: str) -> None:
        """A slot takes no further block; what it does it may end."""
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

    # What to do.

    def starts(self, now_s: float) -> list[tuple[str, Block]]:
        """Return which slots start which blocks now; a block's `trials` are those not committed
        yet."""
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
        """Return slots whose block takes longer than its limits add up to: they hang."""
        return [
            slot
            for slot, work in self._work.items()
            if now_s - work.since_s > self._limits_s(self._blocks[work.block])
        ]

    @property
    def closed(self) -> int:
        """The last repetition up to which every block is committed that was to be run."""
        return self._closed

    @property
    def is_done(self) -> bool:
        """Whether nothing is under way, and nothing is to be started any more."""
        return not self._work and (self._is_interrupted or self._next_waiting() is None)

    def _keep(self, number: int, left: list[Trial]) -> None:
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
        """Return the first waiting block that is for this machine, which waits no more."""
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
        """Return whether a machine has lost this block and another, which has not, takes blocks:
        one that fails whatever it gets is back for more sooner than those that load."""
        lost_on = {each for each, _ in self._losses.get(number, ())}
        return machine in lost_on and any(
            each not in lost_on
            for slot, each in self._machines.items()
            if slot not in self._retired
        )

    def _next_waiting(self) -> int | None:
        """Return the first block that waits for a slot; what was decided or came late drops out."""
        while self._waiting:
            number = self._waiting[0]
            left = self._left.get(number)
            if left and not self._ended.is_over(left[0]):
                return number
            heapq.heappop(self._waiting)
        return None
