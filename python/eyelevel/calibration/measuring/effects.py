"""Measure by how many milliseconds an aspect changes a load.

One of the two stacks is compared with itself with one setting changed, over the generated page.
"""

from collections.abc import Callable
from dataclasses import replace

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import difference
from eyelevel.calibration.level.rows import Effect, Run
from eyelevel.calibration.level.scenarios import SCENARIOS
from eyelevel.calibration.measuring.cache import Effects, RunCache
from eyelevel.calibration.measuring.measure import Step, validate_level
from eyelevel.calibration.measuring.runs import MOVED
from eyelevel.plan.stacks import Stack

PAGES = tuple(scenario for scenario in SCENARIOS if scenario.kind == "page")


def measure_effects(first: Stack, second: Stack, on_step: Callable[[Step], None]) -> Effects:
    """Measure the effects of all aspects that a single setting of one stack can change.

    The effects are cached with the pair. Cached runs of a stack and its changed twin are reused.
    Raises LabError as `validate_level`.
    """
    effects: Effects = {}
    for aspect in ASPECTS:
        for stack in (second, first):
            switched = _switch_setting(stack, aspect.switch) if aspect.switch else None
            if switched is not None:
                validate_level(stack, switched, on_step, scenarios=PAGES, budget_s=0.0)
                effects[aspect.name] = _compute_changes(RunCache((stack, switched)).runs())
                break
    RunCache((first, second)).keep_effects(effects)
    return effects


def _switch_setting(stack: Stack, switch: JsonMapping) -> Stack | None:
    """Return the stack with the setting changed; None if that is invalid or changes nothing."""
    if all(getattr(stack, name) == value for name, value in switch.items()):
        return None
    switches = ", ".join(f"{name}={value}" for name, value in switch.items())
    changed = replace(stack, name=f"{stack.name} {switches}", **switch)
    return None if changed.refusal() else changed


def _compute_changes(runs: list[Run]) -> Effect:
    by_title = {}
    for scenario in PAGES:
        for name, title in MOVED.items():
            sides = [
                [
                    run.values[name]
                    for run in runs
                    if (run.scenario, run.side) == (scenario.name, side) and name in run.values
                ]
                for side in (0, 1)
            ]
            moved = difference(sides[0], sides[1], "mean")
            if moved.determined:
                by_title[f"{title} on {scenario.network.name}"] = moved
    return by_title
