"""Test whether the primary metric's differences drift from repetition to repetition."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.autocorrelation import (
    DRIFT_LENGTH,
    DRIFT_SHARE,
    lag_one,
    noticed_share,
)
from eyelevel.analysis.stats.censoring.timeouts import up_to_limit
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, Floats
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison


@dataclass(frozen=True)
class Drift:
    """The lag-1 autocorrelation of the differences, over all comparisons and networks.

    `noticed_share`: the power of the test with this many repetitions, against a drift that is
    DRIFT_SHARE of one stack's variance and lasts DRIFT_LENGTH repetitions.
    """

    autocorrelation: Estimate
    noticed_share: float

    @property
    def seen(self) -> bool:
        """Whether a report warns of drift; it does so wrongly in at most 5 % of runs."""
        return self.autocorrelation.p is not None and self.autocorrelation.p <= SIGNIFICANCE_LEVEL

    def as_json(self) -> JsonObject:
        """Return the JSON of a report (docs/reference/report.md)."""
        return {
            "autocorrelation": self.autocorrelation.as_json(),
            "noticed_share": self.noticed_share,
            "of_share": DRIFT_SHARE,
            "of_repetitions": DRIFT_LENGTH,
        }


def drift_of(cells: Sequence[Cell], metric: str, comparisons: Sequence[Comparison]) -> Drift | None:
    """Return the drift of a metric's differences; None if nothing is compared.

    The value of a repetition is the mean over sites of the log ratios, each centred by its site; a
    timeout counts as its limit. Comparisons with a value of 0 have no ratios and are left out.
    """
    by_comparison: dict[tuple[str, Comparison], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric:
            by_comparison.setdefault((cell.network, cell.comparison), []).append(cell)
    repetitions = max((int(cell.loads[0].max(initial=0)) for cell in cells), default=0)
    rows = [_differences(group, repetitions) for group in by_comparison.values()]
    if not rows:
        return None
    stacks = sorted({name for asked in comparisons for name in (asked.stack, asked.reference)})
    pairs = tuple((stacks.index(each.stack), stacks.index(each.reference)) for each in comparisons)
    found = lag_one(np.array(rows))
    networks = len({network for network, _ in by_comparison})
    return Drift(found, noticed_share(found.n, len(stacks), pairs, networks))


def _differences(cells: Sequence[Cell], repetitions: int) -> Floats:
    """Return one value per repetition; not-a-number if there is none."""
    sums, counts = np.zeros((2, repetitions))
    for cell in cells:
        places, x, r = cell.loads
        limited = (up_to_limit(each[None], [cell.limit])[0] for each in (x, r))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.subtract(*map(np.log, limited))
        there = np.isfinite(ratios)
        if not there.all() or not there.any():
            return np.full(repetitions, np.nan)
        sums[places - 1] += ratios - ratios.mean()
        counts[places - 1] += 1
    with np.errstate(invalid="ignore"):
        means: Floats = sums / counts
    return means
