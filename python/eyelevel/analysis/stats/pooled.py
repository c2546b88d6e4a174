"""The error of a gain, pooled with the other stacks of its network.

Three blocks leave a comparison two degrees of freedom, although every other stack was loaded in the
same blocks and its loads scatter, too. The error of a randomised block design pools all of them,
but is wrong for a stack that scatters more than the others: with six stacks of which one has 1.6
times the spread, its intervals miss in 10 % of studies, however many blocks there are. So the
others count as BORROWED_FREEDOM further degrees of freedom: a large part with three blocks, a small
one with thirty (`benchmarks.statistics.pooled`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, Floats, t_estimate, undetermined
from eyelevel.analysis.stats.paired_gains import (
    difference_over_sites,
    log_gain,
    mean_over_repetitions,
    of_gain,
    pair_loads,
)

STACKS_MIN = 3
"""The fewest stacks that share an error: two have one difference, and nothing to borrow from."""

BORROWED_FREEDOM = 2.0
"""Degrees of freedom that the other stacks count as. With them three blocks of three stacks have
the error and the four degrees of freedom of the randomised block design itself. More of them would
make intervals of a few blocks narrower, and miss more often where one stack scatters more."""


def freedom_of(stacks: int, own: float) -> float:
    """Return the degrees of freedom of a comparison among `stacks`; `own` without the others."""
    return own + min(BORROWED_FREEDOM, max(0, stacks - 2) * own)


@dataclass(frozen=True)
class Pool:
    """The stacks of one network that share an error, and the scatter of their differences.

    `variance` is that of a block's difference between two of them (of the mean over sites), the
    mean over all pairs: twice the mean square error of the randomised block design if no load is
    lost. `freedom` is the smallest of any pair. `logs` are the members' values, for `weighted`.
    """

    members: frozenset[str]
    variance: float
    freedom: float
    logs: Mapping[str, Floats] = field(default_factory=dict, compare=False, repr=False)

    @property
    def borrowed(self) -> float:
        """The degrees of freedom that a comparison gets from the other stacks."""
        return freedom_of(len(self.members), self.freedom) - self.freedom

    def shared_by(self, stack: str, reference: str) -> bool:
        """Return whether both stacks are in the pool."""
        return {stack, reference} <= self.members

    def weighted(self, sites: Floats) -> "Pool | None":
        """Return the pool of logarithms weighted by site; None if no pool remains."""
        return pool_of({name: logs * sites[:, None] for name, logs in self.logs.items()})

    def moderate(self, own: float, freedom: float, of_pair: float) -> tuple[float, float]:
        """Return the moderated variance of one block, and its degrees of freedom.

        `own` with its `freedom` is a pair's own variance; `of_pair` is its part in the pool's
        variance. The result is (d own + b others) / (d + b): `others` is the pool's without the
        pair, which is independent of it if no load is lost, with its `borrowed` b.
        """
        stacks = len(self.members)
        others = max(0.0, ((stacks - 1) * self.variance - of_pair) / (stacks - 2))
        total = freedom + self.borrowed
        return (freedom * own + self.borrowed * others) / total, total


def pool_of(logs: Mapping[str, Floats]) -> Pool | None:
    """Return the pool of stacks; None if fewer than STACKS_MIN can share an error.

    `logs`: the logarithms of each stack's values, sites x repetitions, not-a-number for no load. A
    stack with an infinite one has an error of its own: a load that timed out, or took no time,
    would affect the gains of all others. So has a stack with fewer than two blocks in common with
    another on some site.
    """
    names = [name for name, values in logs.items() if not np.isinf(values).any()]
    pairs = {
        frozenset(pair): _one_block(logs[pair[0]] - logs[pair[1]])
        for pair in combinations(names, 2)
    }
    while lacking := [pair for pair, found in pairs.items() if found is None]:
        names.remove(max(names, key=lambda name: sum(name in pair for pair in lacking)))
        pairs = {pair: found for pair, found in pairs.items() if pair <= set(names)}
    found = [each for each in pairs.values() if each is not None]
    if len(names) < STACKS_MIN:
        return None
    variances, freedoms = zip(*found, strict=True)
    members = {name: np.atleast_2d(logs[name]) for name in names}
    return Pool(frozenset(names), float(np.mean(variances)), min(freedoms), members)


def estimate_pooled_log_gain(
    values: ArrayLike,
    reference: ArrayLike,
    pool: Pool | None,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the mean log ratio of `eyelevel.analysis.stats.paired_gains.log_gain` with moderated
    error.

    Its variance is `Pool.moderate`'s (Smyth, Statistical Applications in Genetics and Molecular
    Biology 3, 2004, with a prior that is not estimated: a handful of stacks does not show how much
    their spreads differ). Assumes stacks with equal scatter on the logarithm. Without a pool, or if
    the pair has no error, it is `log_gain` itself.
    """
    own = log_gain(values, reference, confidence)
    if pool is None or own.standard_error is None or own.degrees_of_freedom is None:
        return own
    assert own.value is not None
    x, r = pair_loads(values, reference)
    blocks = _blocks_each(x - r)
    variance = own.standard_error**2 * blocks
    moderated, freedom = pool.moderate(variance, own.degrees_of_freedom, variance)
    return t_estimate(own.value, (moderated / blocks) ** 0.5, freedom, own.n, confidence)


def estimate_pooled_gain(values: ArrayLike, reference: ArrayLike, pool: Pool | None) -> Estimate:
    """Return the gain of `eyelevel.analysis.stats.paired_gains.geometric_gain` with the moderated
    error."""
    return of_gain(estimate_pooled_log_gain(values, reference, pool))


def estimate_pooled_difference(
    values: ArrayLike, reference: ArrayLike, pool: Pool | None
) -> Estimate:
    """Return `eyelevel.analysis.stats.paired_gains.difference_over_sites` with the moderated error.

    A difference is a log ratio times the mean time of its site, so the pool's logarithms are
    weighted by the mean of this pair's times there: slower stacks scatter more in milliseconds, not
    on the logarithm. Without a pool, or if the pair has no error, it is `difference_over_sites`
    itself.
    """
    own = difference_over_sites(values, reference)
    if pool is None or own.standard_error is None or own.degrees_of_freedom is None:
        return own
    assert own.value is not None
    x, r = (np.atleast_2d(side) for side in pair_loads(values, reference))
    times = (np.nanmean(x, axis=1) + np.nanmean(r, axis=1)) / 2
    beside, of_pair = pool.weighted(times), _one_block((np.log(x) - np.log(r)) * times[:, None])
    if beside is None or of_pair is None:
        return own
    blocks = _blocks_each(x - r)
    variance = own.standard_error**2 * blocks
    moderated, freedom = beside.moderate(variance, own.degrees_of_freedom, of_pair[0])
    return t_estimate(own.value, (moderated / blocks) ** 0.5, freedom, own.n)


DISAGREES = "no interval: it disagrees with that of the gain about zero"


def beside_gain(difference: Estimate, gain: Estimate) -> Estimate:
    """Return the difference that accompanies a gain, without its interval if the two disagree.

    The gain decides, and counts each site alike; in milliseconds a slow site counts for more. Both
    intervals hold, yet a reader would take the one that excludes zero for a second verdict.
    """
    both = gain.determined and difference.determined
    if not both or gain.excludes_zero == difference.excludes_zero:
        return difference
    return undetermined(DISAGREES, difference.n, difference.value)


def _one_block(differences: Floats) -> tuple[float, float] | None:
    """Return the variance of one block's mean over sites, and its degrees of freedom."""
    found = mean_over_repetitions(differences)
    if found.standard_error is None or found.degrees_of_freedom is None:
        return None
    return found.standard_error**2 * _blocks_each(differences), found.degrees_of_freedom


def _blocks_each(differences: Floats) -> float:
    """Return the harmonic mean over sites of their numbers of blocks."""
    return float(1 / np.mean(1 / (~np.isnan(np.atleast_2d(differences))).sum(axis=1)))
