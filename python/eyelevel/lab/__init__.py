"""The typed client of `eyelevel-lab`, and the only place that starts it."""

from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.lab.client import Lab, LabConfig, LabSummary, Ready
from eyelevel.lab.errors import LabError
from eyelevel.lab.prober import ProbeTarget, probe_events

__all__ = [
    "Lab",
    "LabConfig",
    "LabError",
    "LabSummary",
    "ProbeTarget",
    "Ready",
    "find_binary",
    "probe_events",
    "run_tool",
]
