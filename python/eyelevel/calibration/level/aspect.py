"""Define an aspect in which stacks may differ, and how it is measured."""

from collections.abc import Callable
from dataclasses import dataclass, field

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Bound, Compared
from eyelevel.plan.stacks import Stack


@dataclass(frozen=True)
class Measure:
    """`value`: its name among what a run gives (`eyelevel.calibration.level.page_values`,
    `transfer_values`).

    `on`: the scenarios that give it. `unit` is that of value and `margin`; `margin_share` is of the
    mean of both sides, and the larger of both margins counts. `compared`: see
    `eyelevel.calibration.level.classes.difference`. `bound`: what QUIC's value less TCP's may be by
    nature, with `because`, the RFC's section or the browser's setting; it holds for such a pair
    alone, and only where both stacks have the settings `bound_with`. `none_of`: why a stack has
    nothing of it, empty where it has.
    """

    value: str
    on: tuple[str, ...]
    unit: str
    source: str
    margin: float = 0.0
    margin_share: float = 0.0
    compared: Compared = "mean"
    bound: Bound | None = None
    because: str = ""
    bound_with: JsonMapping = field(default_factory=dict)
    none_of: Callable[[Stack], str] | None = None

    def margin_of(self, first: float, second: float) -> float:
        """Return the margin for these means."""
        return max(self.margin, self.margin_share * (abs(first) + abs(second)) / 2)


@dataclass(frozen=True)
class Aspect:
    """`says`: its setting in words, where it is one; `settings`: those of the stack's settings that
    decide it. `what`: what is measured, a phrase. `switch`: a setting that changes this aspect
    alone, for `--effects`; empty where no setting does."""

    name: str
    says: Callable[[Stack], str] | None = None
    settings: tuple[str, ...] = ()
    what: str = ""
    measure: Measure | None = None
    switch: JsonMapping = field(default_factory=dict)


PAGES = ("page on far", "page on slow")
