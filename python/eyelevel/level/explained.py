"""What of stacks is set and what is measured: the table of aspects, with the values of each stack.

Nothing is said of an aspect but the setting in force and what this machine measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eyelevel.level.aspect import Aspect, Measure
from eyelevel.level.aspects import ASPECTS
from eyelevel.level.classes import Value
from eyelevel.level.numbers_said import NOT_MEASURED, value_said

Settings = Mapping[str, Any]
Kind = Literal["set", "measured"]
Measured = Mapping[tuple[str, str], Value]
"""Of one stack: its middle value by aspect and scenario."""


@dataclass(frozen=True)
class ExplainedRow:
    """An aspect with its value for each stack; `differs`: not all are the same, as far as is known.

    A setting that is also measured has a row of each kind.
    """

    aspect: str
    kind: Kind
    values: tuple[str, ...]
    differs: bool


def explain(
    stacks: Sequence[Settings], measured: Sequence[Measured] | None = None
) -> list[ExplainedRow]:
    """One row a setting, then one a measured aspect and scenario.

    `stacks` are settings as the lab gets them, with `visit` where it is not the first; `measured`
    what is known of each on this machine.
    """
    known = measured if measured is not None else [{} for _ in stacks]
    rows = []
    for aspect in ASPECTS:
        if aspect.says is not None:
            rows.append(_row(aspect.name, "set", [aspect.says(each) for each in stacks]))
    for aspect in ASPECTS:
        if aspect.measure is not None:
            rows += _measured_rows(aspect, aspect.measure, known)
    return rows


def measured_of(levels: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Measured]:
    """What levels, as `environment.json` has them, say of each of these stacks."""
    found: dict[str, dict[tuple[str, str], Value]] = {name: {} for name in names}
    for level in levels:
        for side in ("first", "second"):
            own = found.get(level[side])
            if own is None:
                continue
            for row in level["rows"]:
                if row[side] is not None:
                    own.setdefault((row["aspect"], row["scenario"]), row[side])
    return [found[name] for name in names]


def _measured_rows(
    aspect: Aspect, measure: Measure, known: Sequence[Measured]
) -> list[ExplainedRow]:
    rows = []
    for scenario in measure.on:
        name = f"{aspect.name}, {scenario}" if len(measure.on) > 1 else aspect.name
        values = [value_said(own.get((aspect.name, scenario)), measure.unit) for own in known]
        rows.append(_row(name, "measured", values))
    return rows


def _row(name: str, kind: Kind, values: Sequence[str]) -> ExplainedRow:
    told = {each for each in values if each != NOT_MEASURED}
    return ExplainedRow(name, kind, tuple(values), len(told) > 1)
