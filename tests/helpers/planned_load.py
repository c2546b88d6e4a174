"""One load of a plan's first trial, repeated as `eyelevel run` does while the machine spoils it."""

from pathlib import Path
from typing import Any

from loads import GOOD

from eyelevel.load.trial import run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import expand
from eyelevel.run.block.attempts import RETRIED, RETRIES_MAX
from eyelevel.sites.recorded import open_site


def load_planned(text: str, site: Path) -> dict[str, Any]:
    """Return the record of a plan that has one trial, of a recording."""
    (trial,) = expand(parse_plan(text, "plan.toml"), [open_site(str(site)).of_plan()])
    for _ in range(1 + RETRIES_MAX):
        record = run_trial(trial, str(site)).record
        if record["outcome"] not in RETRIED:
            break
    assert record["outcome"] in GOOD, record["outcome_detail"]
    return record
