"""A server's distances from level stacks: the protocol's share of a difference and the server's.

Two stacks are level: they differ in nothing but their protocols. A server has a stack of each
protocol, too. So its HTTP/3 against its HTTP/2 is the level difference, plus the distance of its
HTTP/3 from the level one, less the distance of its HTTP/2.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate, Floats
from eyelevel.analysis.stats.paired_gains import mean_over_repetitions, repetition_values
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence
from eyelevel.analysis.trials.blocks import up_to_limit
from eyelevel.plan.comparisons import Compared, Comparison


@dataclass(frozen=True)
class LevelSquare:
    """The names of four stacks, each compared with two others."""

    server_h3: str
    server_h2: str
    level_h3: str
    level_h2: str

    @property
    def comparisons(self) -> dict[str, Comparison]:
        """The comparisons by their part of the sum `server = level - http2 + http3`."""
        return {
            "level": Comparison(self.level_h3, self.level_h2),
            "http2": Comparison(self.server_h2, self.level_h2),
            "http3": Comparison(self.server_h3, self.level_h3),
            "server": Comparison(self.server_h3, self.server_h2),
        }

    @property
    def stacks(self) -> tuple[str, str, str, str]:
        """The four names: the server's, then the level ones, HTTP/3 first."""
        return self.server_h3, self.server_h2, self.level_h3, self.level_h2


@dataclass(frozen=True)
class Distance(Compared):
    """One stack against another: the mean of log(value / reference), and the difference in ms."""

    stack: str
    reference: str
    log_ratio: Estimate
    difference_ms: Estimate


@dataclass(frozen=True)
class LevelDistances:
    """The four distances of a square on one network, by the names of `LevelSquare.comparisons`.

    All are of the same `blocks`, those with all four values, so that they add up;
    `blocks_without` counts the others.
    """

    network: str
    square: LevelSquare
    distances: dict[str, Distance]
    blocks: int
    blocks_without: int


def find_squares(comparisons: Sequence[Comparison]) -> Iterator[LevelSquare]:
    """Yield each four stacks of which the plan compares a server's two, two others, and both pairs.

    The first comparison of the two pairs is the server's.
    """
    known = set(comparisons)
    used: set[frozenset[str]] = set()
    for server in comparisons:
        for level in comparisons:
            square = LevelSquare(server.stack, server.reference, level.stack, level.reference)
            names = frozenset(square.stacks)
            is_new = len(names) == 4 and names not in used
            if is_new and known.issuperset(square.comparisons.values()):
                used.add(names)
                yield square


def level_distances(
    kept: pl.DataFrame,
    metric: str,
    squares: Sequence[LevelSquare],
    networks: Sequence[str],
    horizon: Horizon | None,
) -> list[LevelDistances]:
    """Return the distances of each square and network with a block of all four stacks.

    `kept` has the kept loads; a timeout counts as its limit. The intervals are uncorrected: with a
    `horizon` confidence sequences, which hold at every interim analysis, else Student's t.
    """
    values = kept.select("network", "site", "repetition", "stack", value=up_to_limit(metric))
    # A value of 0 has no ratio.
    values = values.filter(pl.col("value") > 0, pl.col("value").is_finite())
    found = []
    for square in squares:
        wide = _join(values, square.stacks)
        for network in networks:
            rows = wide.filter(network=network)
            if not rows.height:
                continue
            times = _values_by_site(rows, square.stacks)
            distances = {
                name: _distance(times, comparison, horizon)
                for name, comparison in square.comparisons.items()
            }
            of_network = kept.filter(pl.col("stack").is_in(square.stacks), network=network)
            blocks = of_network.select("site", "repetition").unique().height
            without = blocks - rows.height
            found.append(LevelDistances(network, square, distances, rows.height, without))
    return found


def _join(values: pl.DataFrame, stacks: Sequence[str]) -> pl.DataFrame:
    """Return a row for each block that has all `stacks`, with a column for each."""
    key = ["network", "site", "repetition"]
    first, *others = (
        values.filter(stack=name).select(*key, pl.col("value").alias(name)) for name in stacks
    )
    for other in others:
        first = first.join(other, on=key)
    return first.sort(key)


def _values_by_site(rows: pl.DataFrame, stacks: Sequence[str]) -> dict[str, Floats]:
    """Return sites x repetitions by stack; not-a-number if there is no block."""
    (sites, row), (repetitions, column) = (
        np.unique(rows[name].to_numpy(), return_inverse=True) for name in ("site", "repetition")
    )
    times = {}
    for name in stacks:
        times[name] = np.full((len(sites), len(repetitions)), np.nan)
        times[name][row, column] = rows[name].to_numpy()
    return times


def _distance(
    times: dict[str, Floats], comparison: Comparison, horizon: Horizon | None
) -> Distance:
    x, r = times[comparison.stack], times[comparison.reference]
    return Distance(
        comparison.stack,
        comparison.reference,
        _estimate(np.log(x) - np.log(r), horizon),
        _estimate(x - r, horizon),
    )


def _estimate(differences: Floats, horizon: Horizon | None) -> Estimate:
    estimate = mean_over_repetitions(differences, 1 - SIGNIFICANCE_LEVEL)
    if horizon is None or not estimate.determined:
        return estimate
    return confidence_sequence(repetition_values(differences), SIGNIFICANCE_LEVEL, horizon)
