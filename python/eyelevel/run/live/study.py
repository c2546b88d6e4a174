"""Alternate live loads and replays of one page, committed one by one.

A block is a live load and a replay, in random order. After an interruption the next command with
the same directory and settings continues with the loads that are not committed.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, metrics_of
from eyelevel.analysis.trials.starvation import judge_alone
from eyelevel.load.quiet_host import HostWait
from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.origin_rtt import OriginRtts
from eyelevel.plan.origin_rtts import with_plans
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import Trial, expand, random_number
from eyelevel.run.block.attempts import RETRIES, commit_result, with_retries
from eyelevel.run.live.comparison import LIVE_SIDE, REPLAY_SIDE, Load
from eyelevel.run.live.load import LivePage, run_live_trial
from eyelevel.run.live.trials import live_site, live_trials
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.commit import recover
from eyelevel.store.directory import StoredTrial, list_committed, read_trial
from eyelevel.store.outcomes import COUNTED


@dataclass(frozen=True)
class LiveStudy:
    """The settings of a live study: its page, its recording, and the conditions of the loads.

    `network` and `own_rtts` (the origins' extra round trips) are those of the replays; a live load
    uses only the browser settings of `stack`.
    """

    page: LivePage
    recording: RecordedSite
    network: Network
    stack: Stack
    blocks: int
    seed: int
    browser: Browser
    own_rtts: OriginRtts | None = None
    trace_files: Mapping[str, str] = field(default_factory=dict)
    """The files of the network's stages, by digest."""


@dataclass(frozen=True)
class Turn:
    """One load to be done."""

    side: str
    trial: Trial


@dataclass(frozen=True)
class Done:
    """The progress of a live study; `left_s` estimates the remaining time."""

    done: int
    total: int
    left_s: float
    turn: Turn
    outcome: str


def turns(study: LiveStudy) -> list[Turn]:
    """Return all loads in their order: block after block, each in random order."""
    site = study.recording.of_plan()
    # The recorded servers take as long as the real ones did.
    slow = replace(study.stack, think_time="recorded")
    (replayed,) = with_plans([slow], study.own_rtts)
    plan = one_cell(site.name, [study.network], replayed, study.blocks, study.seed, study.browser)
    replays = expand(plan, [site])
    page = live_site(study.page.url, site)
    # Chromium delays requests by its estimate of the network, so both sides get the same one.
    taken_for = replays[0].browser.forced_connection_type or "measured"
    live = live_trials(page, study.stack, study.blocks, study.seed, study.browser, taken_for)
    ordered: list[Turn] = []
    for pair in zip(live, replays, strict=True):
        block = [
            Turn(side, trial) for side, trial in zip((LIVE_SIDE, REPLAY_SIDE), pair, strict=True)
        ]
        ordered += sorted(
            block, key=lambda turn: random_number(study.seed, turn.side, turn.trial.repetition)
        )
    return ordered


def run_study(
    study: LiveStudy, directory: Path, host_wait: HostWait, on_done: Callable[[Done], None]
) -> None:
    """Make the loads that are not committed yet; `on_done` is called after each."""
    recover(directory)
    order, there = turns(study), list_committed(directory)
    rest = [turn for turn in order if turn.trial.hash not in there]
    lengths_s: list[float] = []
    for number, turn in enumerate(rest, start=1):
        began_s = time.monotonic()
        outcome = commit_result(directory, with_retries(_once(study, turn, host_wait), RETRIES))
        lengths_s.append(time.monotonic() - began_s)
        left_s = (len(rest) - number) * sorted(lengths_s)[len(lengths_s) // 2]
        done = len(order) - len(rest) + number
        on_done(Done(done, len(order), left_s, turn, outcome))


def _once(study: LiveStudy, turn: Turn, host_wait: HostWait) -> Callable[[], TrialResult]:
    if turn.side == LIVE_SIDE:
        return partial(run_live_trial, turn.trial, study.page, host_wait)
    archive = str(study.recording.path.resolve())
    return partial(
        run_trial,
        turn.trial,
        archive,
        study.page.url,
        trace_files=study.trace_files,
        host_wait=host_wait,
    )


def read_loads(study: LiveStudy, directory: Path) -> Iterator[Load]:
    """Yield the study's committed loads in their order."""
    there = list_committed(directory)
    for turn in turns(study):
        if turn.trial.hash in there:
            yield _load(turn, read_trial(directory, turn.trial.hash))


def _load(turn: Turn, stored: StoredTrial) -> Load:
    record = stored.record
    outcome, detail = judge_alone(record)
    metrics: Mapping[str, float | None] = dict.fromkeys(METRICS_BY_NAME)
    if outcome in COUNTED:
        metrics = metrics_of(record, stored.frames())
    return Load(
        turn.side,
        turn.trial.repetition,
        outcome,
        detail,
        metrics,
        record["objects"],
    )


def problems(loads: Sequence[Load]) -> dict[str, dict[str, int]]:
    """Return the number of loads by side and outcome."""
    found: dict[str, dict[str, int]] = {LIVE_SIDE: {}, REPLAY_SIDE: {}}
    for load in loads:
        counts = found[load.side]
        counts[load.outcome] = counts.get(load.outcome, 0) + 1
    return found
