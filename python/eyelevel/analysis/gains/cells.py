"""A whole study: every stack against the reference, by site, network and metric."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.analysis.trials.blocks import with_timeouts
from eyelevel.stats.estimate import Estimate, undetermined
from eyelevel.stats.families import holm
from eyelevel.stats.gain import mean_gain, performance_gain
from eyelevel.stats.hypothesis.anova import Anova, anova_of_two
from eyelevel.stats.paired import hodges_lehmann, median

Floats = NDArray[np.float64]
Key = tuple[str, str, str]  # network, stack, metric

_NONE = np.zeros(0)
_EMPTY = (
    performance_gain(_NONE, _NONE),
    hodges_lehmann(_NONE, _NONE),
    anova_of_two(_NONE, _NONE),
)


@dataclass(frozen=True)
class Cell:
    """One stack against the reference on one site, network and metric, over the kept blocks.

    `median` and `median_reference` are infinite if half of the loads timed out. `without_value`
    counts the pairs that were left out because a load has no such metric.
    """

    network: str
    site: str
    stack: str
    metric: str
    pairs: int
    without_value: int
    timeouts: int
    timeouts_reference: int
    median: float | None
    median_reference: float | None
    gain: Estimate
    difference: Estimate
    anova: Anova


@dataclass(frozen=True)
class NetworkGain:
    """One stack's gain against the reference on one network and metric: the mean over sites."""

    network: str
    stack: str
    metric: str
    gain: Estimate
    p_holm: float | None = None


def compare_cells(
    kept: pl.DataFrame, metrics: Sequence[str], reference: str, stacks: Sequence[str]
) -> list[Cell]:
    """Every cell of the study, from the kept blocks (`select_blocks`), in a fixed order."""
    rows = kept.sort("network", "site", "stack", "block")
    values = _values(rows, metrics)
    blocks = rows["block"].to_numpy()
    ranges: dict[tuple[str, str], dict[str, slice]] = {}
    start = 0
    counted = rows.group_by("network", "site", "stack", maintain_order=True).len()
    for network, site, stack, count in counted.iter_rows():
        ranges.setdefault((network, site), {})[stack] = slice(start, start + count)
        start += count
    cells: list[Cell] = []
    for (network, site), by_stack in ranges.items():
        of_reference = by_stack.get(reference, slice(0, 0))
        for stack in stacks:
            if stack == reference:
                continue
            of_stack = by_stack.get(stack, slice(0, 0))
            if not np.array_equal(blocks[of_stack], blocks[of_reference]):
                raise ValueError(
                    f"{site} on {network}: the blocks of {stack} are not the reference's"
                )
            for column, metric in enumerate(metrics):
                pair = (values[of_stack, column], values[of_reference, column])
                cells.append(_cell(network, site, stack, metric, *pair))
    return cells


def compare_networks(
    cells: Sequence[Cell],
    primary_metric: str,
    sites: Sequence[str],
    planned: Sequence[Key] = (),
) -> list[NetworkGain]:
    """The mean gain over `sites` by network, stack and metric.

    Undetermined if a site has no cell; so is each of the `planned` (network, stack, metric)
    that has none at all. For the primary metric the p values are corrected after Holm over the
    family of all networks and stacks; other metrics are descriptive.
    """
    gains = network_gains(cells, sites, planned)
    primary = [index for index, gain in enumerate(gains) if gain.metric == primary_metric]
    adjusted = holm([gains[index].gain.p for index in primary])
    for index, p in zip(primary, adjusted, strict=True):
        gains[index] = replace(gains[index], p_holm=p)
    return gains


def network_gains(
    cells: Sequence[Cell], sites: Sequence[str], planned: Sequence[Key] = ()
) -> list[NetworkGain]:
    """The same without any correction, for a look that claims nothing."""
    # What is planned stays in the answer without any cell: left out, it would look never asked.
    grouped: dict[Key, list[Cell]] = {key: [] for key in planned}
    for cell in cells:
        grouped.setdefault((cell.network, cell.stack, cell.metric), []).append(cell)
    return [NetworkGain(*key, _over_sites(group, sites)) for key, group in grouped.items()]


def _over_sites(cells: Sequence[Cell], sites: Sequence[str]) -> Estimate:
    if not cells:
        return undetermined("no complete block is left")
    if absent := sorted(set(sites) - {cell.site for cell in cells}):
        return undetermined(f"no complete block of {', '.join(absent)}", len(cells))
    return mean_gain([cell.gain for cell in cells])


def _cell(network: str, site: str, stack: str, metric: str, x: Floats, r: Floats) -> Cell:
    there = ~(np.isnan(x) | np.isnan(r))
    without_value = len(x) - int(there.sum())
    if without_value:
        x, r = x[there], r[there]
    if len(x) == 0:  # of a large study these are many, and the rest of this takes its time
        return Cell(network, site, stack, metric, 0, without_value, 0, 0, None, None, *_EMPTY)
    if len(x) == 1 and 0 < x[0] < math.inf and 0 < r[0] < math.inf:
        value, reference_value = float(x[0]), float(r[0])
        answers = _of_one_pair(value, reference_value)
        return Cell(
            network, site, stack, metric, 1, without_value, 0, 0, value, reference_value, *answers
        )
    return Cell(
        network=network,
        site=site,
        stack=stack,
        metric=metric,
        pairs=len(x),
        without_value=without_value,
        timeouts=int(np.isinf(x).sum()),
        timeouts_reference=int(np.isinf(r).sum()),
        median=median(x),
        median_reference=median(r),
        gain=performance_gain(x, r),
        difference=hodges_lehmann(x, r),
        anova=anova_of_two(x, r),
    )


def _of_one_pair(x: float, r: float) -> tuple[Estimate, Estimate, Anova]:
    """What the three computations answer to one pair, without their cost: half a million of them.

    A test holds it to the computations themselves.
    """
    return (
        undetermined("one block shows no spread", 1, x / r - 1),
        undetermined("1 blocks are too few for a 95% interval", 1, x - r),
        _EMPTY[2],
    )


def _values(rows: pl.DataFrame, metrics: Sequence[str]) -> Floats:
    """Rows x metrics: infinity for a timeout, not-a-number where a load has no value."""
    return rows.select(with_timeouts(name).fill_null(np.nan) for name in metrics).to_numpy()
