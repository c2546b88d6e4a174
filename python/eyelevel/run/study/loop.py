"""Run a plan's trials, each committed once, so that any run can be resumed.

What runs where and next is `eyelevel.run.study.dispatch`'s to say, what loads is `slots`'; the loop
carries what the one says to the other, and looks at the records in between.
"""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from eyelevel.plan.trials import Trial
from eyelevel.run.study.attempts import RETRIES, commit_trial
from eyelevel.run.study.dispatch import Dispatch, Ended
from eyelevel.run.study.jobs import claimed_sets, lanes
from eyelevel.run.study.looks import Looks
from eyelevel.run.study.progress import Accounts, Progress
from eyelevel.run.study.slots import Here, Lanes, Slots
from eyelevel.run.trial.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.store.directory import missing


@dataclass(frozen=True)
class RunResult:
    """Where a run stands at its end."""

    directory: Path
    total: int
    done: int
    interrupted: bool
    stopped: str = ""
    """What was decided before all trials; empty if nothing was."""


@dataclass(frozen=True)
class Execution:
    """How trials are run, which is no part of what they are."""

    retries: int = RETRIES
    jobs: int = 1
    host_wait_s: float = WAIT_S_MAX
    """For how long a load waits for the machine at most."""
    trace_files: Mapping[str, str] = field(default_factory=dict)
    """Recorded traces of the networks by digest (`Plan.trace_files`)."""


ONE_BY_ONE = Execution()
BESIDE = HostWait(alone=False)
"""Of a load that has others of this run beside it; it is in another process and tells nobody."""


def run_trials(
    trials: Sequence[Trial],
    archives: Mapping[str, str],
    directory: Path,
    on_progress: Callable[[Progress], None],
    may_stop: Callable[[int], Ended] | None = None,
    execution: Execution = ONE_BY_ONE,
    effects: Callable[[], str] | None = None,
) -> RunResult:
    """Run what is missing of `trials`; `archives` maps a site's name to its file.

    `may_stop` is asked whenever all blocks up to a repetition are there, by its number, which
    networks' loads have ended; no further one of theirs is begun, and those that had begun are kept
    and not counted. `effects` is asked then, too, what is seen so far, if looking has taken no more
    than its share of the time.

    The first Ctrl-C lets the current loads end, the second one ends them at once; what is committed
    stays. Raises JobsError if there are too few cores for the jobs, CoresTakenError if another
    command has them.
    """
    absent = todo(trials, directory)
    accounts = Accounts(trials, absent, execution.jobs, on_progress)
    left = {trial.hash for trial in absent}
    dispatch = Dispatch(trials, [trial.hash for trial in trials if trial.hash not in left])

    def arguments(trial: Trial, wait: HostWait = BESIDE) -> tuple[Any, ...]:
        files = dict(execution.trace_files)
        wait = replace(wait, limit_s=execution.host_wait_s)
        return trial, archives[trial.site], directory, files, execution.retries, wait

    def here(trial: Trial, wait: HostWait) -> str:
        return commit_trial(*arguments(trial, wait))

    with (
        claimed_sets(execution.jobs) as sets,
        _interruptible(accounts.interrupt) as interrupted,
        lanes(sets) as pools,
    ):
        slots: Slots = (
            Lanes(pools, (commit_trial, arguments), accounts.start, interrupted)
            if pools
            else Here(here, accounts.start, accounts.wait, interrupted)
        )
        ended = _run(dispatch, slots, accounts, interrupted, may_stop, effects)
        progress = accounts.progress
        return RunResult(directory, progress.total, progress.done, interrupted(), ended.reason)


def _run(
    dispatch: Dispatch,
    slots: Slots,
    accounts: Accounts,
    interrupted: Callable[[], bool],
    may_stop: Callable[[int], Ended] | None,
    effects: Callable[[], str] | None,
) -> Ended:
    """Until all is done that is to be done; what was decided early."""
    looks, ended, seen = Looks(effects) if effects else None, Ended(), -1
    for slot in slots.names:
        dispatch.join(slot)
    while True:
        if interrupted():
            dispatch.interrupt()
        while seen < dispatch.closed and not interrupted():
            is_first, seen = seen < 0, dispatch.closed
            ended = may_stop(seen) if may_stop else ended
            accounts.leave_out(ended)
            dispatch.end_networks(ended)
            is_over = accounts.progress.done >= accounts.progress.total
            if looks and not is_first and not is_over and looks.may_look(time.monotonic()):
                accounts.progress.effects = looks.look()
                accounts.tell()
        for slot, block in dispatch.starts(time.monotonic()):
            slots.start(slot, block)
        if dispatch.is_done:
            return ended
        for came in slots.wait():
            dispatch.come(
                came.slot, [trial.hash for trial, _ in came.outcomes], is_last=came.is_last
            )
            for trial, outcome in came.outcomes:
                accounts.end(trial, outcome)


def todo(trials: Sequence[Trial], directory: Path) -> list[Trial]:
    """The trials that are not committed under `directory` yet, in their order."""
    absent = set(missing(directory, [trial.hash for trial in trials]))
    return [trial for trial in trials if trial.hash in absent]


@contextmanager
def _interruptible(on_first: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """The first SIGINT is noted and told; the next one interrupts as usual."""
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
