"""The trial loop: set up, load, tear down, write exactly one outcome."""

from eyelevel.run.attempts import RETRIES, RETRIES_MAX
from eyelevel.run.effects import effects_so_far
from eyelevel.run.estimate import PlanEstimate, estimate
from eyelevel.run.loop import Execution, Progress, RunResult, prepare, run_trials
from eyelevel.run.sites import RecordedSite, matching, open_site, shipped, site_info
from eyelevel.run.stopping import stopping_rule
from eyelevel.run.trial import TrialResult, run_trial

__all__ = [
    "RETRIES",
    "RETRIES_MAX",
    "Execution",
    "PlanEstimate",
    "Progress",
    "RecordedSite",
    "RunResult",
    "TrialResult",
    "effects_so_far",
    "estimate",
    "matching",
    "open_site",
    "prepare",
    "run_trial",
    "run_trials",
    "shipped",
    "site_info",
    "stopping_rule",
]
