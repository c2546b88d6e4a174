"""The trial loop: set up, load, tear down, write exactly one outcome."""

from eyelevel.run.estimate import PlanEstimate, estimate
from eyelevel.run.loop import Progress, RunResult, prepare, run_trials
from eyelevel.run.sites import RecordedSite, matching, open_site, shipped, site_info
from eyelevel.run.stopping import stopping_rule
from eyelevel.run.trial import TrialResult, run_trial

__all__ = [
    "PlanEstimate",
    "Progress",
    "RecordedSite",
    "RunResult",
    "TrialResult",
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
