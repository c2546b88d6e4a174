"""Turn one trial into its record, with bounded, counted retries of the instrument's own failures.

A trial without any result gets the record of a failure.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.client import LabSummary
from eyelevel.load.coding import NO_PICTURES
from eyelevel.load.host import HostSample
from eyelevel.load.live_build import LiveBuild
from eyelevel.load.quiet_host import HostWait
from eyelevel.load.trial import TrialResult, run_trial, trial_result
from eyelevel.plan.trials import Trial
from eyelevel.sites.served_command import ServedCommandError
from eyelevel.store.commit import write_trial
from eyelevel.store.outcomes import OUTCOMES
from eyelevel.store.packed import PackedTrial, pack

RETRIED = tuple(outcome.name for outcome in OUTCOMES if outcome.tried_again)
"""The outcomes after which an attempt is repeated, unless the page loaded."""

KEPT_OF_ATTEMPTS = ("outcome", "outcome_detail", "started_at", "navigation", "host")
"""The keys of an earlier attempt that a record retains."""

RETRIES = 1
RETRIES_MAX = 3
"""The most retries of a load; more attempts would hide the reason of a repeated failure."""


def commit_trial(
    trial: Trial,
    archive: str,
    directory: Path,
    trace_files: Mapping[str, str],
    retries: int,
    host_wait: HostWait | None = None,
    live: LiveBuild | None = None,
) -> str:
    """Run `trial`, write its record under `directory`, and return its outcome.

    Every attempt waits for the machine as in `host_wait`, and `live` answers for the page's own
    origin. Raises ServedCommandError if that server has ended.
    """

    def run() -> TrialResult:
        if live and (why := live.find_end()):
            raise ServedCommandError(why)
        return run_trial(trial, archive, trace_files=trace_files, host_wait=host_wait, live=live)

    return commit_result(directory, with_retries(run, retries))


def pack_result(result: TrialResult, is_known: Callable[[str], bool]) -> PackedTrial:
    """Return a result as bytes, without images of known names. Raises StoreError as `pack`."""
    return pack(result.record, result.frames, result.step_frames, result.logs, is_known)


def commit_result(directory: Path, result: TrialResult) -> str:
    """Write a result's record under `directory`, and return its outcome."""
    write_trial(directory, result.record, result.frames, result.step_frames, result.logs)
    return str(result.record["outcome"])


def with_retries(run: Callable[[], TrialResult], retries: int) -> TrialResult:
    """Return the first result in which the page loaded, else the last one.

    A failure that is not one of RETRIED ends the attempts, too. The record's `retried` has the
    earlier ones. The first attempt that loaded is the trial's, whatever was wrong with it: another
    would be made at another moment than the rest of the block, and which stack gets further
    attempts depends on the stack. A failed attempt counts as a failure of its stack if stacks are
    compared by how often the instrument fails, whatever came after it.
    """
    failed: list[JsonObject] = []
    while True:
        result = run()
        if not _may_repeat(result.record) or len(failed) >= retries:
            break
        failed.append({key: result.record[key] for key in KEPT_OF_ATTEMPTS})
    if failed:
        result.record["retried"] = failed
    return result


def _may_repeat(record: JsonMapping) -> bool:
    navigation = record["navigation"]
    has_loaded = navigation is not None and navigation["page_load_time_ms"] is not None
    return record["outcome"] in RETRIED and not has_loaded


def give_up(trial: Trial, machines: Sequence[str]) -> PackedTrial:
    """Return a trial as failed: each of `machines` was lost while it had the trial's block."""
    now_s = time.monotonic()
    sample = HostSample.take(now_s)
    host = {**sample.until(sample), "waited_for_host_ms": 0.0, "wall_ms": 0.0}
    detail = f"its block was lost {len(machines)} times, with a slot of {', '.join(machines)}"
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lost = trial_result(trial, at, "lab-failed", detail, None, NO_PICTURES, LabSummary(), host)
    return pack(lost.record)
