"""The waterfall: the requests of both loads of the first pair, on one time axis."""

import math
from dataclasses import dataclass

from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.figures.waterfall import PHASES, Waterfall, WaterfallPair, waterfall_pair
from eyelevel.report.html import Markup
from eyelevel.report.templates import render

BARS_MAX = 50  # bars of both loads; more unfold
TICKS_MAX = 5
LABELLED = 0.9  # the share of the axis after which a label would not fit
MARGIN = 0.01
NAMES = {"dns": "DNS", "tls": "TLS"}


@dataclass(frozen=True)
class WaterfallSection:
    """The fields of the template for a pair of loads."""

    pair: WaterfallPair

    @property
    def is_open(self) -> bool:
        """Whether there are few enough bars to be open at once."""
        return sum(len(load.bars) for load in self.pair.loads) <= BARS_MAX

    @property
    def loads(self) -> tuple[Waterfall, ...]:
        """The loads, the reference's first."""
        return self.pair.loads

    @property
    def phases(self) -> tuple[tuple[str, str], ...]:
        """The phases with their titles, for the legend."""
        return tuple((name, NAMES.get(name, name)) for name in PHASES)

    @property
    def ticks(self) -> tuple[tuple[str, float], ...]:
        """The axis's labels, each with its time in ms."""
        least_ms = self.pair.ended_ms / TICKS_MAX
        power_ms = 10.0 ** math.floor(math.log10(least_ms))
        step_ms = next(step * power_ms for step in (1, 2, 5, 10) if step * power_ms >= least_ms)
        digits = max(0, 3 - math.floor(math.log10(step_ms)))
        places = range(math.floor(LABELLED * self.pair.ended_ms / step_ms) + 1)
        return tuple((f"{n * step_ms / 1e3:.{digits}f}", n * step_ms) for n in places)

    def percent(self, ms: float) -> str:
        """Return a time's position on the axis, which extends a little beyond the last line."""
        return f"{100 * max(0.0, ms) / (self.pair.ended_ms * (1 + MARGIN)):.2f}%"

    def as_json(self) -> JsonObject:
        """Return the loads as JSON."""
        return self.pair.as_json()


def waterfall_section(contents: StudyResults) -> Markup:
    """Return the section; empty without a pair of loads."""
    pair = waterfall_pair(contents)
    return Markup("") if pair is None else render("waterfall", WaterfallSection(pair))


def waterfall_json(contents: StudyResults) -> JsonObject:
    """Return the loads as JSON; null without a pair of loads."""
    pair = waterfall_pair(contents)
    return {"waterfall": None if pair is None else WaterfallSection(pair).as_json()}
