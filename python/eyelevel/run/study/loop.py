"""Run a plan's trials in their order, each committed once, so that any run can be resumed."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from eyelevel.browser.browsers import find_browser
from eyelevel.errors import StoreError
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import Site, Trial, expand, plan_document, plan_hash
from eyelevel.run.level.measure import levels_of
from eyelevel.run.study.attempts import RETRIES, commit_trial
from eyelevel.run.study.environment import describe
from eyelevel.run.study.jobs import claimed_sets, lanes, run_blocks
from eyelevel.run.study.progress import Accounts, Progress
from eyelevel.run.study.stopping import Ended
from eyelevel.run.study.time_limits import check_time_limits
from eyelevel.run.trial.quiet_host import WAIT_S_MAX, HostWait, WaitInterruptedError
from eyelevel.sites.cleartext import check_secure, secure_share
from eyelevel.sites.recorded import RecordedSite, altered_in
from eyelevel.store.claim import claim
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    PLAN_FILE,
    missing,
    read_document,
    remove_leftovers,
    write_document,
)
from eyelevel.validation.path import short_validation
from eyelevel.validation.stack_cache import measured_cells

LOOKING_SHARE_MAX = 0.001
"""Of a run's time: 3 ms of a load of 3 s; a look takes 40 ms, so that there are some a minute."""


class Looks:
    """Looks of one run, the first as soon as there is something to see.

    Looking costs time in which nothing is loaded.
    """

    def __init__(self, look: Callable[[], str], now_s: Callable[[], float] = time.monotonic):
        self._look = look
        self._now_s = now_s
        self._next_s = float("-inf")

    def may_look(self, now_s: float) -> bool:
        """Whether the last look is so long ago that a next one keeps to its share."""
        return now_s >= self._next_s

    def look(self) -> str:
        """What is seen."""
        began_s = self._now_s()
        reason = self._look()
        ended_s = self._now_s()
        self._next_s = ended_s + (ended_s - began_s) / LOOKING_SHARE_MAX
        return reason


@dataclass(frozen=True)
class RunResult:
    """Where a run stands at its end."""

    directory: Path
    total: int
    done: int
    interrupted: bool
    stopped: str = ""
    """What was decided before all trials; empty if nothing was."""


def prepare(
    plan: Plan, sites: Sequence[RecordedSite], directory: Path, *, resume: bool
) -> list[Trial]:
    """Write `plan.json` and `environment.json`; the trials in their order.

    Raises StoreError if `directory` holds another plan's run, or this one's without `resume`,
    PlanError if a site has nothing that a stack could be in force on, BrowserStartError if the
    browser is not there; nothing is written then.
    """
    find_browser(plan.browser)
    check_secure(plan.stacks, sites)
    check_time_limits(plan, sites)
    trials = planned(plan, [site.of_plan() for site in sites], directory, resume=resume)
    if not (directory / ENVIRONMENT_FILE).exists():
        environment = describe(plan.browser) | {
            "path_checks": short_validation(),
            "stacks_validated": [cell.as_json() for cell in measured_cells()],
            "levels": levels_of(plan),
        }
        if altered := {site.name: change for site in sites if (change := altered_in(site.path))}:
            environment["altered_sites"] = altered
        shares = {site.name: secure_share(site.path) for site in sites}
        if partly := {name: share for name, share in shares.items() if 0 < share < 1}:
            environment["secure_shares"] = partly
        write_document(directory, ENVIRONMENT_FILE, environment)
    return trials


def planned(plan: Plan, sites: Sequence[Site], directory: Path, *, resume: bool) -> list[Trial]:
    """Write `plan.json` if it is not there yet; the trials. Raises StoreError as `prepare`."""
    trials = expand(plan, sites)
    claim(directory)
    if (directory / PLAN_FILE).exists():
        there = read_document(directory, PLAN_FILE)
        if there.get("hash") != plan_hash(plan, sites):
            raise StoreError(
                f"writing {directory}: it holds the run of another plan; choose another --out"
            )
        if not resume:
            raise StoreError(
                f"writing {directory}: it holds this plan's run; continue it with --resume, "
                "or choose another --out"
            )
        remove_leftovers(directory)
    else:
        write_document(directory, PLAN_FILE, plan_document(plan, sites, trials))
    return trials


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

    `may_stop` is asked after each repetition, by its number, which networks' loads have ended; no
    further one of theirs is run. `effects` is asked then, too, what is seen so far, if looking has
    taken no more than its share of the time.

    The first Ctrl-C lets the current loads end, the second one ends them at once; what is committed
    stays. Raises JobsError if there are too few cores for the jobs, CoresTakenError if another
    command has them.
    """
    queue = todo(trials, directory)
    accounts = Accounts(trials, queue, execution.jobs, on_progress)
    progress = accounts.progress

    def arguments(trial: Trial, wait: HostWait = BESIDE) -> tuple[Any, ...]:
        files = dict(execution.trace_files)
        wait = replace(wait, limit_s=execution.host_wait_s)
        return trial, archives[trial.site], directory, files, execution.retries, wait

    def decide(repetition: int) -> Ended:
        ended = may_stop(repetition) if may_stop else Ended()
        accounts.leave_out(ended)
        return ended

    looks, ended = Looks(effects) if effects else None, Ended()
    with (
        claimed_sets(execution.jobs) as sets,
        _interruptible(accounts.interrupt) as interrupted,
        lanes(sets) as pools,
    ):
        for repetition, group in groupby(queue, key=lambda trial: trial.repetition):
            ended = decide(repetition - 1)
            wanted = [trial for trial in group if not ended.is_over(trial)]
            if pools:
                call = (commit_trial, arguments)
                run_blocks(wanted, pools, call, accounts.start, accounts.end, interrupted)
            else:
                for trial in wanted:
                    if interrupted():
                        break
                    accounts.start(trial)
                    try:
                        wait = HostWait(told=accounts.wait, ended=interrupted)
                        accounts.end(trial, commit_trial(*arguments(trial, wait)))
                    except WaitInterruptedError:
                        break
            if interrupted():
                break
            if looks and progress.done < progress.total and looks.may_look(time.monotonic()):
                progress.effects = looks.look()
                accounts.tell()
        else:
            ended = decide(trials[-1].repetition)
        return RunResult(directory, progress.total, progress.done, interrupted(), ended.reason)


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
