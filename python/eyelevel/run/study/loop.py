"""Run a plan's trials, each committed once, so that any run can be resumed.

`eyelevel.run.study.dispatch` decides what runs where and next, and `slots` load; the loop passes
events and decisions between them, and analyses the records in between.

It is the one writer of a run: it commits trials that arrive as bytes, and stores their rows. It
limits how often a running study is analysed, since no load runs meanwhile. It ends a run whose
loads all fail alike for a reason of the instrument: with a broken browser or a server that does not
respond, hours of further loads would show nothing more. A busy machine is no such reason, since it
may become idle again.
"""

import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Self

from eyelevel.base.errors import StoreError
from eyelevel.load.live_build import LiveBuild
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.plan.trials import Trial
from eyelevel.run.block.attempts import RETRIES, commit_trial, give_up
from eyelevel.run.study.dispatch import Block, Dispatch, StopDecision
from eyelevel.run.study.progress import Accounts, Progress
from eyelevel.run.study.slots import (
    Event,
    InProcessSlot,
    SlotAdded,
    SlotLost,
    SlotRetired,
    Slots,
    TrialsFinished,
    WorkerPool,
    claim_core_sets,
    worker_processes,
)
from eyelevel.run.study.time_limits import block_limit_s
from eyelevel.store.commit import write_block
from eyelevel.store.directory import RECORD_FILE, missing, refusals
from eyelevel.store.outcomes import OUTCOMES_BY_NAME
from eyelevel.store.packed import PackedTrial

if TYPE_CHECKING:
    from eyelevel.analysis.trials.table import RowParts


class Committer:
    """A writer for a run's directory, which this process has claimed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rows: RowParts | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._rows is not None:
            # Rows can be recomputed, so that their error must not hide the one that ended the run.
            with suppress(StoreError) if error else nullcontext(), refusals(self._directory):
                self._rows.flush()

    def commit(self, packed: Sequence[PackedTrial]) -> None:
        """Commit all of a block or nothing of it, then store its rows, which can be recomputed.

        Raises StoreError for an error of the disk.
        """
        write_block(self._directory, packed)
        with refusals(self._directory):
            for each in packed:
                if each.row is not None:
                    self._row_parts().add(each.name, each.row, each.files[RECORD_FILE])

    def _row_parts(self) -> "RowParts":
        if self._rows is None:
            # Imported here: it takes long, and few runs get rows.
            from eyelevel.analysis.run_files import list_kept_columns
            from eyelevel.analysis.trials.table import RowParts

            self._rows = RowParts(self._directory, list_kept_columns())
        return self._rows


SITES = 2
"""The fewest sites, if a run has several: a single page may itself be at fault."""
LOADS_MIN = 4
"""The fewest loads of a one-site run that count as a common failure; fewer may fail by chance."""
PASSING = ("starved", "late-packets")
"""The instrument's outcomes that may end by themselves."""


@dataclass(frozen=True)
class Failure:
    """The common failure of all loads of a run: their outcome, and one of them as an example."""

    outcome: str
    loads: int
    sites: tuple[str, ...]
    trial: str
    """The hash of the last failed trial."""


class CommonFailure:
    """The outcomes of a run's loads from the first on, until one differs."""

    def __init__(self, trials: Sequence[Trial]) -> None:
        """`trials`: those that the run is to load."""
        self._sites_min = min(SITES, len({trial.site for trial in trials}))
        self._loads_min = min(LOADS_MIN, len(trials))
        self._left = Counter(trial.block for trial in trials)
        self._seen: dict[str, None] = {}
        self._whole: set[str] = set()
        self._loads = 0
        self._outcome = ""
        self._is_over = False

    def take(self, trial: Trial, outcome: str) -> Failure | None:
        """Take a load's outcome, and return the common failure if there is one.

        It takes enough loads with the same outcome, none with another, and a complete block of
        enough sites. A block has a load of each stack: a failure of some stacks only, such as a
        server that one of them cannot reach, does not end a run.
        """
        if self._is_over:
            return None
        known = OUTCOMES_BY_NAME[outcome]
        self._outcome = self._outcome or outcome
        if known.fault != "instrument" or outcome in PASSING or outcome != self._outcome:
            self._is_over = True
            return None
        self._loads += 1
        self._seen[trial.site] = None
        self._left[trial.block] -= 1
        if not self._left[trial.block]:
            self._whole.add(trial.site)
        if self._loads < self._loads_min or len(self._whole) < self._sites_min:
            return None
        return Failure(outcome, self._loads, tuple(self._seen), trial.hash)


@dataclass(frozen=True)
class RunResult:
    """The state of a run at its end."""

    directory: Path
    total: int
    done: int
    interrupted: bool
    stopped: str = ""
    """The decision to stop before all trials were loaded; empty if there was none."""
    failure: Failure | None = None
    """The failure that ended the run because all loads failed alike."""


@dataclass(frozen=True)
class Execution:
    """The settings for running trials that are not part of the trials."""

    retries: int = RETRIES
    jobs: int = 1
    host_wait_s: float = WAIT_S_MAX
    """The longest that a load waits for the machine."""
    trace_files: Mapping[str, str] = field(default_factory=dict)
    """Recorded traces of the networks by digest (`Plan.trace_files`)."""
    budget_s: float | None = None
    """The time that all loads may take."""
    live: Mapping[str, LiveBuild] = field(default_factory=dict)
    """The running live builds by variant."""

    def block_limit_s(self, block: Block) -> float:
        """Return the longest time that a slot may take for a block, in s."""
        return block_limit_s(block.trials, self.retries, self.host_wait_s)


ONE_BY_ONE = Execution()
SILENT = HostWait()
"""The wait of a load in another process, without status output."""

Interrupted = Callable[[], bool]
Driver = Callable[[Accounts, Interrupted], AbstractContextManager[Slots]]
"""A context manager that provides slots during a run."""
OnCommitted = Callable[[Sequence[str]], None]
"""A callback with the hashes of committed trials."""


def run_trials(
    trials: Sequence[Trial],
    archives: Mapping[str, str],
    directory: Path,
    on_progress: Callable[[Progress], None],
    may_stop: Callable[[int], StopDecision] | None = None,
    execution: Execution = ONE_BY_ONE,
    effects: Callable[[], str] | None = None,
    driver: Driver | None = None,
    on_committed: OnCommitted = lambda names: None,
) -> RunResult:
    """Run the missing trials; `archives` maps `Trial.recording` to its file.

    `may_stop` is called whenever all blocks up to a repetition are committed, with its number, and
    returns the networks whose loads have ended. None of their loads is started any more; those in
    progress are stored but not counted. `effects` is called then, too, within its share of the
    time, and returns the gains so far. `driver`: provides slots elsewhere. `on_committed` is called
    with the trials in the directory, between two loads if they are made here one by one.

    The first Ctrl-C lets the current loads end, the second one ends them at once; committed trials
    stay. Raises JobsError if there are too few cores for the jobs, CoresTakenError if another
    command has them.
    """
    absent = todo(trials, directory)
    accounts = Accounts(trials, absent, on_progress)
    left = {trial.hash for trial in absent}
    there = [trial.hash for trial in trials if trial.hash not in left]
    dispatch = Dispatch(trials, there, execution.block_limit_s)
    driver = driver or partial(_local_slots, archives, directory, execution)
    with (
        _interruptible(accounts.interrupt) as interrupted,
        Committer(directory) as committer,
        driver(accounts, interrupted) as slots,
    ):
        common = CommonFailure(absent)
        run = _Run(dispatch, slots, accounts, interrupted, committer, effects, on_committed, common)
        ended = run.run_to_end(may_stop)
        progress = accounts.progress
        return RunResult(
            directory, progress.total, progress.done, interrupted(), ended.reason, run.failure
        )


@contextmanager
def _local_slots(
    archives: Mapping[str, str],
    directory: Path,
    execution: Execution,
    accounts: Accounts,
    interrupted: Interrupted,
) -> Iterator[Slots]:
    """Provide slots on this machine."""

    def arguments(trial: Trial, wait: HostWait = SILENT) -> tuple[Any, ...]:
        files = dict(execution.trace_files)
        wait = replace(wait, limit_s=execution.host_wait_s)
        live = execution.live.get(trial.variant)
        further = (live,) if live else ()
        return (
            trial,
            archives[trial.recording],
            directory,
            files,
            execution.retries,
            wait,
            *further,
        )

    def commit(trial: Trial, wait: HostWait) -> str:
        return commit_trial(*arguments(trial, wait))

    with claim_core_sets(execution.jobs) as sets, worker_processes(sets) as pools:
        if pools:
            yield WorkerPool(pools, (commit_trial, arguments), accounts.start, interrupted)
        else:
            yield InProcessSlot(commit, accounts.start, accounts.wait, interrupted)


class _Run:
    """The execution of one run."""

    def __init__(
        self,
        dispatch: Dispatch,
        slots: Slots,
        accounts: Accounts,
        interrupted: Interrupted,
        committer: Committer,
        effects: Callable[[], str] | None,
        on_committed: OnCommitted,
        common: CommonFailure,
    ) -> None:
        self._dispatch, self._slots, self._accounts = dispatch, slots, accounts
        self._interrupted, self._committer = interrupted, committer
        self._on_committed = on_committed
        self._peeks = PeekBudget(effects) if effects else None
        self._common = common
        self.failure: Failure | None = None

    def run_to_end(self, may_stop: Callable[[int], StopDecision] | None) -> StopDecision:
        """Run until all due trials are done, and return the stop decision."""
        dispatch, slots = self._dispatch, self._slots
        ended, seen = StopDecision(), -1
        while True:
            if self._interrupted() or self.failure:
                dispatch.interrupt()
            while seen < dispatch.closed and not self._interrupted():
                is_first, seen = seen < 0, dispatch.closed
                ended = may_stop(seen) if may_stop else ended
                self._accounts.leave_out(ended)
                dispatch.end_networks(ended)
                if not is_first:
                    self._peek()
            if dispatch.is_done:
                return ended
            for slot, block in dispatch.starts(time.monotonic()):
                slots.start(slot, block)
            for slot in dispatch.overdue(time.monotonic()):
                slots.restart(slot)
            for event in slots.wait():
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case SlotAdded(slot, machine):
                self._dispatch.join(slot, machine)
                self._accounts.joined(slot, machine)
            case SlotRetired(slot):
                self._dispatch.retire(slot)
                self._accounts.retired(slot)
            case SlotLost(slot, is_blamed, why):
                self._accounts.lost(slot)
                if lost := self._dispatch.lose(slot, is_blamed=is_blamed, why=why):
                    packed = [give_up(trial, lost.machines) for trial in lost.trials]
                    self._committer.commit(packed)
                    for trial, each in zip(lost.trials, packed, strict=True):
                        self._end(trial, each.outcome)
                    self._on_committed([trial.hash for trial in lost.trials])
            case TrialsFinished(slot, outcomes, is_last, packed):
                names = [trial.hash for trial, _ in outcomes]
                taken = {
                    each.hash for each in self._dispatch.take_results(slot, names, is_last=is_last)
                }
                self._committer.commit([each for each in packed if each.name in taken])
                for trial, outcome in outcomes:
                    self._end(trial, outcome, len(outcomes))
                self._on_committed(names)

    def _end(self, trial: Trial, outcome: str, together: int = 1) -> None:
        self._accounts.end(trial, outcome, together)
        self.failure = self.failure or self._common.take(trial, outcome)

    def _peek(self) -> None:
        progress = self._accounts.progress
        is_over = progress.done >= progress.total
        if self._peeks and not is_over and self._peeks.may_peek(time.monotonic()):
            progress.effects = self._peeks.peek()
            self._accounts.tell()


def todo(trials: Sequence[Trial], directory: Path) -> list[Trial]:
    """Return the trials that are not committed under `directory` yet, in their order."""
    absent = set(missing(directory, [trial.hash for trial in trials]))
    return [trial for trial in trials if trial.hash in absent]


@contextmanager
def _interruptible(on_first: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Intercept the first SIGINT and report it; the next one interrupts as usual."""
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        noted = True
        signal.signal(signal.SIGINT, before)
        on_first()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)


PEEK_TIME_SHARE_MAX = 0.001
"""The share of a run's time spent on peeks: 3 ms of a load of 3 s. A peek takes 40 ms, so that
there are a few per minute."""


class PeekBudget:
    """The budget for peeks at one run; the first happens as soon as there is a result."""

    def __init__(self, analyse: Callable[[], str], now_s: Callable[[], float] = time.monotonic):
        self._analyse = analyse
        self._now_s = now_s
        self._next_s = float("-inf")

    def may_peek(self, now_s: float) -> bool:
        """Return whether another peek is within its share of the time."""
        return now_s >= self._next_s

    def peek(self) -> str:
        """Analyse the records so far, and return the effects as text."""
        began_s = self._now_s()
        reason = self._analyse()
        ended_s = self._now_s()
        self._next_s = ended_s + (ended_s - began_s) / PEEK_TIME_SHARE_MAX
        return reason
