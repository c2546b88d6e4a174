"""The progress of a run, and an estimate of its remaining time."""

import time
from bisect import bisect_left, insort
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from eyelevel.plan.trials import Trial
from eyelevel.run.study.dispatch import StopDecision

FIRST_GUESS_S = 8.0
"""The assumed time of a load before any is known; used only for the first seconds of an
estimate."""
RATE_LOADS = 100
"""The number of loads over which the rate is computed."""
SEEN_MAX = 200
"""The most loads of a cell, a network or the run from which the time left is estimated."""
ELSEWHERE_S = 10.0
"""The interval of repeated reports, which take time during loads."""


@dataclass
class Progress:
    """The progress of a run, passed to `on_progress` after every load."""

    total: int
    done: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    left_s: float = 0.0
    trial: Trial | None = None
    """The trial that began last."""
    effects: str = ""
    """The gains after the last complete repetition, as text."""
    waiting: str = ""
    """The reason why the current load has not begun: the machine is busy."""
    loads_per_s: float = 0.0
    """The rate of the last loads."""
    slots: int = 0
    """The number of slots that take blocks."""
    slots_there: int | None = None
    """The present slots, including those before their first block; None if the slots are on this
    machine."""
    machines_lost: int = 0
    machines_refused: int = 0
    decided: str = ""
    """The decisions so far of a study that may stop."""
    ending: bool = False
    """Whether the run was interrupted once: the current loads end, and no other begins."""


class Accounts:
    """The bookkeeping of a run's progress, reported after every change; `queue` has the trials to
    run."""

    def __init__(
        self,
        trials: Sequence[Trial],
        queue: Sequence[Trial],
        on_progress: Callable[[Progress], None],
    ) -> None:
        self.progress = Progress(total=len(trials), done=len(trials) - len(queue))
        self._trials, self._on_progress = trials, on_progress
        self._queue = {trial.hash for trial in queue}
        self._clock = _Clock(queue)
        self._began_s: dict[str, float] = {}
        self._ended_s: deque[float] = deque(maxlen=RATE_LOADS + 1)
        self._elsewhere_s = float("-inf")
        self._machines: dict[str, str] = {}
        self._machines_lost: set[str] = set()
        self._ended = StopDecision()

    def start(self, trial: Trial) -> None:
        """Note that a trial begins."""
        now_s = self._began_s[trial.hash] = time.monotonic()
        if not self._ended_s:
            self._ended_s.append(now_s)
        self.progress.trial, self.progress.left_s = trial, self._left_s()
        self.tell()

    def end(self, trial: Trial, outcome: str, together: int = 1) -> None:
        """Count a committed trial, unless its network's loads have ended meanwhile.

        `together`: the number of trials, one after another, that were reported as begun and ended
        at once.
        """
        now_s = time.monotonic()
        took_s = (now_s - self._began_s.pop(trial.hash)) / together
        self._queue.discard(trial.hash)
        self._ended_s.append(now_s)
        since_s = now_s - self._ended_s[0]
        self.progress.loads_per_s = (len(self._ended_s) - 1) / since_s if since_s else 0.0
        if self._ended.is_over(trial):
            return
        self._clock.add(trial, took_s)
        self.progress.done += 1
        self.progress.outcomes[outcome] += 1
        self.progress.left_s = self._left_s()
        self.tell()

    def joined(self, slot: str, machine: str) -> None:
        """Note that a slot takes blocks."""
        self._machines[slot] = machine
        self._machines_lost.discard(machine)
        self._tell_slots()

    def retired(self, slot: str) -> None:
        """Note that a slot gets no further block."""
        self._machines.pop(slot, None)
        self._tell_slots()

    def lost(self, slot: str) -> None:
        """Note that a slot is gone, and its machine if it was its last one."""
        machine = self._machines.pop(slot, None)
        if machine is not None and machine not in self._machines.values():
            self._machines_lost.add(machine)
        self._tell_slots()

    def elsewhere(self, slots_there: int, machines_refused: int) -> None:
        """Take the numbers of present slots and refused machines.

        They are reported when they change, and at intervals.
        """
        now, now_s = (slots_there, machines_refused), time.monotonic()
        is_new = now != (self.progress.slots_there, self.progress.machines_refused)
        if is_new or now_s >= self._elsewhere_s + ELSEWHERE_S:
            self.progress.slots_there, self.progress.machines_refused = now
            self._elsewhere_s = now_s
            self.tell()

    def _tell_slots(self) -> None:
        self.progress.slots = len(self._machines)
        self.progress.machines_lost = len(self._machines_lost)
        self.progress.left_s = self._left_s()
        self.tell()

    def _left_s(self) -> float:
        return self._clock.left_s() / max(1, self.progress.slots)

    def leave_out(self, ended: StopDecision) -> None:
        """Leave out the remaining loads of networks that have ended."""
        if ended.networks == self._ended.networks:
            return
        over = [
            trial
            for trial in self._trials
            if ended.is_over(trial) and not self._ended.is_over(trial)
        ]
        queued = [trial for trial in over if trial.hash in self._queue]
        self._clock.leave_out(queued)
        self.progress.total -= len(over)
        self.progress.done -= len(over) - len(queued)
        self.progress.left_s, self.progress.decided = self._left_s(), ended.reason
        self._ended = ended
        self.tell()

    def wait(self, line: str) -> None:
        """Note why the next load does not begin; empty when it does."""
        if line != self.progress.waiting:
            self.progress.waiting = line
            self.tell()

    def interrupt(self) -> None:
        """Note that the current loads are the last."""
        self.progress.ending = True
        self.tell()

    def tell(self) -> None:
        """Report the present progress."""
        self._on_progress(self.progress)


class _Clock:
    """An estimate of the time left, by the loads so far: of the cell, else network, else all."""

    def __init__(self, queue: Sequence[Trial]) -> None:
        self._left = Counter((trial.site, trial.network) for trial in queue)
        self._seen: dict[tuple[str, ...], _Last] = defaultdict(_Last)

    def add(self, trial: Trial, seconds: float) -> None:
        """Count one trial of the queue."""
        self._left[trial.site, trial.network] -= 1
        for key in self._keys(trial.site, trial.network):
            self._seen[key].add(seconds)

    def leave_out(self, trials: Iterable[Trial]) -> None:
        """Remove trials of the queue that are not needed any more."""
        self._left.subtract((trial.site, trial.network) for trial in trials)

    def left_s(self) -> float:
        """Return the time of the remaining loads in a row, in s; computed by cells."""
        typical = (n * self._typical_s(*cell) for cell, n in self._left.items() if n)
        return sum(typical)

    def _typical_s(self, site: str, network: str) -> float:
        for key in self._keys(site, network):
            if seen := self._seen.get(key):
                return seen.median
        return FIRST_GUESS_S

    @staticmethod
    def _keys(site: str, network: str) -> tuple[tuple[str, ...], ...]:
        return (site, network), (network,), ()


class _Last:
    """The last SEEN_MAX values, for their median; a run of 150,000 loads stores no more of them."""

    def __init__(self) -> None:
        self._order: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, value: float) -> None:
        """Add a value, in place of the oldest if there are SEEN_MAX."""
        if len(self._order) == SEEN_MAX:
            del self._sorted[bisect_left(self._sorted, self._order.popleft())]
        self._order.append(value)
        insort(self._sorted, value)

    @property
    def median(self) -> float:
        """The median; of two middle values the upper one."""
        return self._sorted[len(self._sorted) // 2]
