"""The waterfall: the requests of both loads of the first pair, on one time axis."""

import math
from dataclasses import dataclass

from eyelevel.analysis.figures.waterfall import PHASES, Waterfall, WaterfallPair, waterfall_pair
from eyelevel.analysis.study import StudyResults
from eyelevel.json_types import JsonObject
from eyelevel.report.html import Markup
from eyelevel.report.templates import render

BARS_MAX = 50  # of both loads; more are shown when asked for
TICKS_MAX = 5
LABELLED = 0.9  # of the axis: a later label would not fit
MARGIN = 0.01
NAMES = {"dns": "DNS", "tls": "TLS"}


@dataclass(frozen=True)
class WaterfallSection:
    """What the template draws of a pair of loads."""

    pair: WaterfallPair

    @property
    def is_open(self) -> bool:
        """Return whether few enough bars are there to be seen at once."""
        return sum(len(load.bars) for load in self.pair.loads) <= BARS_MAX

    @property
    def loads(self) -> tuple[Waterfall, ...]:
        """Return the loads, the reference's first."""
        return self.pair.loads

    @property
    def phases(self) -> tuple[tuple[str, str], ...]:
        """Return the phases with their titles, for the key."""
        return tuple((name, NAMES.get(name, name)) for name in PHASES)

    @property
    def ticks(self) -> tuple[tuple[str, float], ...]:
        """Return the axis's labels, each with its moment in ms."""
        least_ms = self.pair.ended_ms / TICKS_MAX
        power_ms = 10.0 ** math.floor(math.log10(least_ms))
        step_ms = next(step * power_ms for step in (1, 2, 5, 10) if step * power_ms >= least_ms)
        digits = max(0, 3 - math.floor(math.log10(step_ms)))
        places = range(math.floor(LABELLED * self.pair.ended_ms / step_ms) + 1)
        return tuple((f"{n * step_ms / 1e3:.{digits}f}", n * step_ms) for n in places)

    def percent(self, ms: float) -> str:
        """Return where a moment is on the axis, which goes on a little for the last line."""
        return f"{100 * max(0.0, ms) / (self.pair.ended_ms * (1 + MARGIN)):.2f}%"

    def as_json(self) -> JsonObject:
        """Return the loads for programs."""
        return self.pair.as_json()


def waterfall_section(contents: StudyResults) -> Markup:
    """Return the section; empty without a pair of loads."""
    pair = waterfall_pair(contents)
    return Markup("") if pair is None else render("waterfall", WaterfallSection(pair))


def waterfall_json(contents: StudyResults) -> JsonObject:
    """Return the same for programs; null without a pair of loads."""
    pair = waterfall_pair(contents)
    return {"waterfall": None if pair is None else WaterfallSection(pair).as_json()}
