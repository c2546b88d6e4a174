"""Build the table of aspects of stacks, set and measured, with each stack's values.

An aspect is described only by the setting in force and by measurements of this machine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.aspect import Measure
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import CLASS_NAMES, Class, Value
from eyelevel.calibration.level.number_text import format_value
from eyelevel.plan.stacks import Stack

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
    values = tuple(format_value(told.get(place), measure.unit) for told in known.values)
    findings = known.findings.get(place, frozenset())
    if findings & APART:
        differs: bool | None = True
    else:
        differs = False if findings == {"equal"} else None
    ordered = tuple(word for word in CLASS_NAMES if word in findings)
    return ExplainedRow(aspect, scenario, "measured", values, differs, ordered)
