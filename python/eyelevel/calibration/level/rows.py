"""Turn runs' values into rows of the level, and stacks into a table of their aspects; pure.

An aspect is described only by the setting in force and by measurements of this machine.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import (
    CLASS_NAMES,
    SCENARIOS_BY_NAME,
    Aspect,
    Bound,
    Class,
    Compared,
    Measure,
    Value,
    classify,
    difference,
    find_allowed_range,
)
from eyelevel.calibration.level.value_text import format_value
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
        effect = None
        if self.effect_ms is not None:
            effect = {name: ms.as_json() for name, ms in self.effect_ms.items()}
        return {**asdict(self), "difference": self.difference.as_json(), "effect_ms": effect}


Compare = Callable[[Sequence[Value], Sequence[Value], Compared], Estimate]
"""A way to compare the values of both sides, as `difference` does."""


def rows_of(
    runs: Sequence[Run],
    stacks: tuple[Stack, Stack],
    effects: Mapping[str, Effect] | None = None,
    compare: Compare = difference,
) -> list[Row]:
    """Return a row per aspect and scenario, in the table's order.

    `stacks`: those of both sides, as in force; `effects`: by aspect.
    """
    rows = []
    for aspect in ASPECTS:
        if aspect.measure is not None:
            effect = (effects or {}).get(aspect.name)
            rows += [
                _row(aspect, aspect.measure, name, runs, stacks, effect, compare)
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
    compare: Compare,
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
    found = compare(first, second, measure.compared)
    bound = measure.bound if crosses and _all_have(stacks, measure.bound_with) else None
    if bound and crosses < 0:
        bound = Bound(bound.kind, -bound.high, -bound.low)
    word = classify(found, margin, bound)
    low, high = find_allowed_range(margin, bound)
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


Kind = Literal["set", "measured"]
Place = tuple[str, str]
"""An aspect and a scenario."""

APART = {"unequal", "inherent", "browser"}


@dataclass(frozen=True)
class Known:
    """The measurements of this machine: median values of each stack, and findings about pairs."""

    values: Sequence[Mapping[Place, Value]]
    findings: Mapping[Place, frozenset[Class]]


@dataclass(frozen=True)
class ExplainedRow:
    """An aspect with its value for each stack.

    A setting that is also measured has a row of each kind. `scenario`: that of a measurement.
    `differs`: whether settings differ, or a pair of the stacks was measured to differ; None if no
    pair was measured or the measurement is inconclusive. `findings`: those of all measured pairs.
    """

    aspect: str
    scenario: str
    kind: Kind
    values: tuple[str, ...]
    differs: bool | None
    findings: tuple[Class, ...] = ()

    @property
    def name(self) -> str:
        """The aspect, with its scenario if it is measured."""
        return f"{self.aspect}, {self.scenario}" if self.scenario else self.aspect


def explain(stacks: Sequence[Stack], known: Known | None = None) -> list[ExplainedRow]:
    """Return one row per setting, then one per measured aspect and scenario.

    `stacks` are as they are in force.
    """
    known = known or Known([{} for _ in stacks], {})
    rows = []
    for aspect in ASPECTS:
        if aspect.says is not None:
            values = tuple(aspect.says(stack) for stack in stacks)
            rows.append(ExplainedRow(aspect.name, "", "set", values, len(set(values)) > 1))
    for aspect in ASPECTS:
        if aspect.measure is not None:
            rows += [
                _make_measured_row(aspect.name, place, aspect.measure, known)
                for place in aspect.measure.on
            ]
    return rows


def read_known(levels: Sequence[JsonMapping], names: Sequence[str]) -> Known:
    """Return the measurements of these stacks in levels of `environment.json`."""
    values: dict[str, dict[Place, Value]] = {name: {} for name in names}
    findings: dict[Place, set[Class]] = {}
    for level in levels:
        pair = (level["first"], level["second"])
        if not values.keys() >= set(pair):
            continue
        for row in level["rows"]:
            place = (row["aspect"], row["scenario"])
            findings.setdefault(place, set()).add(row["word"])
            for name, side in zip(pair, ("first", "second"), strict=True):
                if row[side] is not None:
                    values[name].setdefault(place, row[side])
    words_of = {place: frozenset(words) for place, words in findings.items()}
    return Known([values[name] for name in names], words_of)


def _make_measured_row(aspect: str, scenario: str, measure: Measure, known: Known) -> ExplainedRow:
    place = (aspect, scenario)
    values = tuple(format_value(reported.get(place), measure.unit) for reported in known.values)
    findings = known.findings.get(place, frozenset())
    if findings & APART:
        differs: bool | None = True
    else:
        differs = False if findings == {"equal"} else None
    ordered = tuple(word for word in CLASS_NAMES if word in findings)
    return ExplainedRow(aspect, scenario, "measured", values, differs, ordered)
