"""The record of a load that took its machine with it, again and again."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from eyelevel.lab.client import LabSummary
from eyelevel.plan.trials import Trial
from eyelevel.run.trial.coding import NO_PICTURES
from eyelevel.run.trial.host import HostSample
from eyelevel.run.trial.trial import trial_result
from eyelevel.store.packed import PackedTrial, pack


def given_up(trial: Trial, machines: Sequence[str]) -> PackedTrial:
    """A failure of the instrument: each of `machines` was lost while it had the trial's block."""
    now_s = time.monotonic()
    sample = HostSample.take(now_s)
    host = {**sample.until(sample), "waited_for_host_ms": 0.0, "wall_ms": 0.0}
    detail = f"its block was lost {len(machines)} times, with a slot of {', '.join(machines)}"
    at = datetime.now(UTC).isoformat(timespec="seconds")
    lost = trial_result(trial, at, "lab-failed", detail, None, NO_PICTURES, LabSummary(), host)
    return pack(lost.record)
