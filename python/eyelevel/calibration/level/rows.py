"""Turn runs' values into rows of the level; pure."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.level.aspect import Aspect, Measure
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import (
    Bound,
    Class,
    Compared,
    Value,
    allowed_range,
    classify,
    difference,
)
from eyelevel.calibration.level.scenarios import SCENARIOS_BY_NAME
from eyelevel.plan.stacks import Stack

Effect = Mapping[str, Estimate]
"""The change, in ms, that an aspect causes if it alone is switched, by metric and network."""


@dataclass(frozen=True)
class Run:
    """The values of one run of a scenario, by name; `side` is 0 or 1."""

    scenario: str
    side: int
    values: Mapping[str, Value]


@dataclass(frozen=True)
class Row:
    """One aspect on one network, with both sides' values and their difference.

    `difference`: the second's value less the first's; undetermined with too few values.
    `allowed_low` to `allowed_high`: its expected range, the margin included. `settings`: those that
    determine the aspect and differ between the stacks. `because`: the reason of inherent, browser's
    and absent rows. `runs`: of the scenario, on each side; if there are some and no value, no run
    reported one.
    """

    aspect: str
    scenario: str
    network: str
    unit: str
    first: Value | None
    second: Value | None
    difference: Estimate
    margin: float
    allowed_low: float
    allowed_high: float
    word: Class
    because: str
    settings: tuple[str, ...]
    runs: tuple[int, int]
    effect_ms: Effect | None = None
    """The aspect's effect; None if unmeasured."""

    def as_json(self) -> JsonObject:
        """Return the JSON of a level (docs/reference/level.md)."""
        effect = self.effect_ms and {name: ms.as_json() for name, ms in self.effect_ms.items()}
        return {**asdict(self), "difference": self.difference.as_json(), "effect_ms": effect}


def rows_of(
    runs: Sequence[Run],
    stacks: tuple[Stack, Stack],
    effects: Mapping[str, Effect] | None = None,
) -> list[Row]:
    """Return a row per aspect and scenario, in the table's order.

    `stacks`: those of both sides, as in force; `effects`: by aspect.
    """
    rows = []
    for aspect in ASPECTS:
        if aspect.measure is not None:
            effect = (effects or {}).get(aspect.name)
            rows += [
                _row(aspect, aspect.measure, name, runs, stacks, effect)
                for name in aspect.measure.on
            ]
    return rows


def pending(rows: Sequence[Row]) -> set[str]:
    """Return the scenarios with open rows that more runs may decide."""
    return {
        row.scenario
        for row in rows
        if row.word == "unknown" and not (min(row.runs) and None in (row.first, row.second))
    }


def _row(
    aspect: Aspect,
    measure: Measure,
    scenario: str,
    runs: Sequence[Run],
    stacks: tuple[Stack, Stack],
    effect: Effect | None,
) -> Row:
    first, second = (
        [
            run.values[measure.value]
            for run in runs
            if (run.scenario, run.side) == (scenario, side) and measure.value in run.values
        ]
        for side in (0, 1)
    )
    middles = (_middle(first, measure.compared), _middle(second, measure.compared))
    means = [middle if isinstance(middle, float) else 0.0 for middle in middles]
    margin = measure.margin_of(*means)
    # Bounds are for QUIC less TCP: mirrored for the reverse order, and unused for other pairs.
    crosses = stacks[1].over_quic - stacks[0].over_quic
    found = difference(first, second, measure.compared)
    bound = measure.bound if crosses and _all_have(stacks, measure.bound_with) else None
    if bound and crosses < 0:
        bound = Bound(bound.kind, -bound.high, -bound.low)
    word = classify(found, margin, bound)
    low, high = allowed_range(margin, bound)
    because = measure.because if word in ("inherent", "browser") else ""
    if not found.determined and (reason := _none_of(measure, stacks)):
        word, because = "absent", reason
    return Row(
        aspect=aspect.name,
        scenario=scenario,
        network=SCENARIOS_BY_NAME[scenario].network.name,
        unit=measure.unit,
        first=middles[0],
        second=middles[1],
        difference=found,
        margin=margin,
        allowed_low=low,
        allowed_high=high,
        word=word,
        because=because,
        settings=tuple(name for name in aspect.settings if _differs(name, stacks)),
        runs=(count(runs, scenario, 0), count(runs, scenario, 1)),
        effect_ms=effect,
    )


def _middle(values: Sequence[Value], compared: Compared) -> Value | None:
    """Return the middle value of a side, such that the sides differ by the difference.

    It is the mean, the median of counts, None if one is not finite, or the distinct labels.
    """
    if not values:
        return None
    if any(isinstance(value, str) for value in values):
        return " | ".join(sorted({str(value) for value in values}))
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        return None
    return statistics.median(numbers) if compared == "count" else statistics.fmean(numbers)


def _differs(name: str, stacks: tuple[Stack, Stack]) -> bool:
    return bool(getattr(stacks[0], name) != getattr(stacks[1], name))


def _all_have(stacks: tuple[Stack, Stack], wanted: JsonMapping) -> bool:
    return all(getattr(stack, name) == value for stack in stacks for name, value in wanted.items())


def _none_of(measure: Measure, stacks: tuple[Stack, Stack]) -> str:
    """Return why one of the stacks lacks the aspect; empty if both may have a value."""
    if measure.none_of is None:
        return ""
    reasons = (measure.none_of(stack) for stack in stacks)
    return next((reason for reason in reasons if reason), "")


def count(runs: Sequence[Run], scenario: str, side: int) -> int:
    """Return the number of runs of one scenario and side."""
    return sum((run.scenario, run.side) == (scenario, side) for run in runs)
