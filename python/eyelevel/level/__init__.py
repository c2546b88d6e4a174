"""The spirit level: in what two stacks differ, by one table of aspects."""

from eyelevel.level.aspect import Aspect, Measure
from eyelevel.level.aspects import ASPECTS
from eyelevel.level.classes import CLASS_NAMES, Bound, Class, Difference, classify, difference
from eyelevel.level.networks import SCENARIOS, SCENARIOS_BY_NAME, Scenario
from eyelevel.level.rows import Row, Run, pending, rows_of

__all__ = [
    "ASPECTS",
    "CLASS_NAMES",
    "SCENARIOS",
    "SCENARIOS_BY_NAME",
    "Aspect",
    "Bound",
    "Class",
    "Difference",
    "Measure",
    "Row",
    "Run",
    "Scenario",
    "classify",
    "difference",
    "pending",
    "rows_of",
]
