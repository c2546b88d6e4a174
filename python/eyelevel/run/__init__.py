"""The trial loop: set up, load, tear down, write exactly one outcome."""

from eyelevel.run.loop import Progress, RunResult, prepare, run_trials
from eyelevel.run.sites import RecordedSite, open_site, shipped, site_info
from eyelevel.run.trial import TrialResult, run_trial

__all__ = [
    "Progress",
    "RecordedSite",
    "RunResult",
    "TrialResult",
    "open_site",
    "prepare",
    "run_trial",
    "run_trials",
    "shipped",
    "site_info",
]
