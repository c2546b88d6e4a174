"""Define an aspect in which stacks may differ, and how it is measured."""

from collections.abc import Callable
from dataclasses import dataclass, field

from eyelevel.base.json_types import JsonMapping
from eyelevel.calibration.level.classes import Bound, Compared
from eyelevel.plan.stacks import Stack


@dataclass(frozen=True)
class Measure:
    """How an aspect is measured, compared and bounded.

    `value`: the name of its value in a run (`eyelevel.calibration.level.page_values`,
    `transfer_values`). `on`: the scenarios that have it. `unit` is that of value and `margin`;
    `margin_share` is of the mean of both sides, and the larger of both margins counts. `compared`:
    see `eyelevel.calibration.level.classes.difference`. `bound`: the range of QUIC's value less
    TCP's that the protocols or the browser imply, with `because`, the RFC's section or the
    browser's setting; it applies to such a pair only, and only if both stacks have the settings
    `bound_with`. `none_of`: returns why a stack does not have the aspect, or "".
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
        """Return the margin for the means of both sides."""
        return max(self.margin, self.margin_share * (abs(first) + abs(second)) / 2)


@dataclass(frozen=True)
class Aspect:
    """An aspect in which stacks may differ: a setting, a measurement, or both.

    `says`: returns its setting in words; `settings`: the stack's settings that determine it.
    `what`: what is measured, as a phrase. `switch`: a setting that changes only this aspect, for
    `--effects`; empty if there is none.
    """

    name: str
    says: Callable[[Stack], str] | None = None
    settings: tuple[str, ...] = ()
    what: str = ""
    measure: Measure | None = None
    switch: JsonMapping = field(default_factory=dict)


PAGES = ("page on far", "page on slow")
