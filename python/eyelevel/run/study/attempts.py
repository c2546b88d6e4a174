"""One trial to its committed record: bounded, counted retries of the instrument's own failures."""

from collections.abc import Callable, Mapping
from pathlib import Path

from eyelevel.plan.trials import Trial
from eyelevel.run.trial.quiet_host import HostWait
from eyelevel.run.trial.trial import TrialResult, run_trial
from eyelevel.store.commit import write_trial
from eyelevel.store.outcomes import OUTCOMES

RETRIED = tuple(outcome.name for outcome in OUTCOMES if outcome.tried_again)

RETRIES = 1
RETRIES_MAX = 3
"""What still fails then fails for a reason, which more loads would only hide."""


def commit_trial(
    trial: Trial,
    archive: str,
    directory: Path,
    trace_files: Mapping[str, str],
    retries: int,
    host_wait: HostWait | None = None,
) -> str:
    """Run `trial`, write its record under `directory`; its outcome. Every attempt waits for the
    machine as `host_wait` says."""

    def run() -> TrialResult:
        return run_trial(trial, archive, trace_files=trace_files, host_wait=host_wait)

    return commit_result(directory, with_retries(run, retries))


def commit_result(directory: Path, result: TrialResult) -> str:
    """Write its record under `directory`; its outcome."""
    write_trial(directory, result.record, result.frames, result.step_frames, result.logs)
    return str(result.record["outcome"])


def with_retries(run: Callable[[], TrialResult], retries: int) -> TrialResult:
    """The first result that is not one of RETRIED, or the last; `retried` tells of those before.

    An attempt that failed counts as a failure of its stack if stacks are compared by how often
    the instrument fails, whatever came after it.
    """
    failed: list[dict[str, str]] = []
    while True:
        result = run()
        if result.record["outcome"] not in RETRIED or len(failed) >= retries:
            break
        failed.append({key: result.record[key] for key in ("outcome", "outcome_detail")})
    if failed:
        result.record["retried"] = failed
    return result
