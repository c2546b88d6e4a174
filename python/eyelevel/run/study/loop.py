"""Run a plan's trials in their order, each committed once, so that any run can be resumed."""

import signal
import time
from bisect import insort
from collections import Counter, defaultdict
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
from eyelevel.run.study.cores import Processors
from eyelevel.run.study.environment import describe
from eyelevel.run.study.jobs import core_sets, lanes, run_blocks
from eyelevel.run.study.time_limits import check_time_limits
from eyelevel.run.trial.quiet_host import WAIT_S_MAX, HostWait, WaitInterruptedError
from eyelevel.sites.cleartext import check_secure, secure_share
from eyelevel.sites.recorded import RecordedSite, altered_in
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


FIRST_GUESS_S = 8.0
"""For a load of which nothing is known yet; only the first seconds of a run's time left use it."""


@dataclass
class Progress:
    """How far a run is; `on_progress` gets it after every load."""

    total: int
    done: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    left_s: float = 0.0
    trial: Trial | None = None
    """The one that began last."""
    effects: str = ""
    """What was seen after the last whole repetition."""
    waiting: str = ""
    """Why the current load has not begun: the machine is busy."""
    ending: bool = False
    """Interrupted once: the current loads end, and no other begins."""


@dataclass(frozen=True)
class RunResult:
    """Where a run stands at its end."""

    directory: Path
    total: int
    done: int
    interrupted: bool
    stopped: str = ""
    """Why it stopped before all trials; empty if it did not."""


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
    may_stop: Callable[[int], str] | None = None,
    execution: Execution = ONE_BY_ONE,
    effects: Callable[[], str] | None = None,
) -> RunResult:
    """Run what is missing of `trials`; `archives` maps a site's name to its file.

    `may_stop` is asked after each repetition, by its number, why the study may stop; it goes on
    while the answer is empty. `effects` is asked then, too, what is seen so far, if looking has
    taken no more than its share of the time.

    The first Ctrl-C lets the current loads end, the second one ends them at once; what is committed
    stays. Raises JobsError if there are too few cores for the jobs.
    """
    queue = todo(trials, directory)
    progress = Progress(total=len(trials), done=len(trials) - len(queue))
    sets = core_sets(Processors.usable(), execution.jobs) if execution.jobs > 1 else []
    clock = _Clock(queue, execution.jobs)
    began_s: dict[str, float] = {}

    def start(trial: Trial) -> None:
        began_s[trial.hash] = time.monotonic()
        progress.trial, progress.left_s = trial, clock.left_s()
        on_progress(progress)

    def end(trial: Trial, outcome: str) -> None:
        clock.add(trial, time.monotonic() - began_s.pop(trial.hash))
        progress.done += 1
        progress.outcomes[outcome] += 1
        progress.left_s = clock.left_s()
        on_progress(progress)

    def told(line: str) -> None:
        if line != progress.waiting:
            progress.waiting = line
            on_progress(progress)

    def arguments(trial: Trial, wait: HostWait = BESIDE) -> tuple[Any, ...]:
        files = dict(execution.trace_files)
        wait = replace(wait, limit_s=execution.host_wait_s)
        return trial, archives[trial.site], directory, files, execution.retries, wait

    def interrupt() -> None:
        progress.ending = True
        on_progress(progress)

    looks = Looks(effects) if effects else None
    stopped, ended = "", queue[0].repetition - 1 if queue else 0
    with _interruptible(interrupt) as interrupted, lanes(sets) as pools:
        for repetition, group in groupby(queue, key=lambda trial: trial.repetition):
            if may_stop and (stopped := may_stop(ended)):
                break
            if pools:
                call = (commit_trial, arguments)
                run_blocks(list(group), pools, call, start, end, interrupted)
            else:
                for trial in group:
                    if interrupted():
                        break
                    start(trial)
                    try:
                        wait = HostWait(told=told, ended=interrupted)
                        end(trial, commit_trial(*arguments(trial, wait)))
                    except WaitInterruptedError:
                        break
            if interrupted():
                break
            ended = repetition
            if looks and progress.done < progress.total and looks.may_look(time.monotonic()):
                progress.effects = looks.look()
                on_progress(progress)
        return RunResult(directory, progress.total, progress.done, interrupted(), stopped)


def todo(trials: Sequence[Trial], directory: Path) -> list[Trial]:
    """The trials that are not committed under `directory` yet, in their order."""
    absent = set(missing(directory, [trial.hash for trial in trials]))
    return [trial for trial in trials if trial.hash in absent]


class _Clock:
    """Estimates the time left from the loads so far: of the same cell, else network, else all."""

    def __init__(self, queue: Sequence[Trial], jobs: int) -> None:
        self._jobs = jobs
        self._left = Counter((trial.site, trial.network) for trial in queue)
        self._seen: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def add(self, trial: Trial, seconds: float) -> None:
        """One trial of the queue is done."""
        self._left[trial.site, trial.network] -= 1
        for key in self._keys(trial.site, trial.network):
            insort(self._seen[key], seconds)

    def left_s(self) -> float:
        """Seconds for what is left; in time proportional to the cells, not to the trials."""
        typical = (n * self._typical_s(*cell) for cell, n in self._left.items() if n)
        return sum(typical) / self._jobs

    def _typical_s(self, site: str, network: str) -> float:
        for key in self._keys(site, network):
            if seen := self._seen.get(key):
                return seen[len(seen) // 2]
        return FIRST_GUESS_S

    @staticmethod
    def _keys(site: str, network: str) -> tuple[tuple[str, ...], ...]:
        return (site, network), (network,), ()


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
