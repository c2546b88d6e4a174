"""The typed client of `eyelevel-lab`, and the only place that starts it."""

from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.lab.client import Lab, LabConfig, LabSummary, Ready
from eyelevel.lab.errors import LabError

__all__ = ["Lab", "LabConfig", "LabError", "LabSummary", "Ready", "find_binary", "run_tool"]
