"""Model machines as a factor besides sites: whether their gains differ, and another one's gain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    ROUNDING,
    Estimate,
    Floats,
    t_estimate,
    undetermined,
)
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.hypothesis import DifferenceTest, test_result
from eyelevel.analysis.stats.paired_gains import NO_SPREAD, as_gain

Places = NDArray[np.int64]

MACHINES_MIN = 5
"""The fewest machines from which the spread between other machines is estimated."""
BATCHES_MAX, BATCH_BLOCKS_MIN = 12, 5
BATCHES_FREEDOM_MIN = 8
"""The fewest degrees of freedom for batches. A disturbance of a machine affects several blocks,
which then count as fewer: blocks are divided in the order of their loads into batches, and machines
are compared with the scatter of batches. With fewer degrees of freedom, blocks count as
independent."""
_RATIOS = (1e-6, 1e8)  # variance ratios, between machines over within; beyond: 0 or infinite
_RATIOS_TRIED = 141  # ten per decade

_FEW = "one machine has nothing to differ from"
_APART = "machines loaded different sites, so that the one cannot be told from the other"
_NO_REPEATS = "too few blocks to tell machines from chance"


@dataclass(frozen=True)
class OfMachine:
    """One machine's gain over all sites, and its distance from the mean of the machines.

    `distance` is of the logarithm; `p_holm` tests it against 0, corrected over the machines.
    """

    gain: Estimate
    distance: float | None = None
    p_holm: float | None = None


@dataclass(frozen=True)
class MachinesModel:
    """The influence of machines on a gain. Deviations are of the logarithm: 0.1 is about 10 %.

    `test`: the F test of one gain for all machines. `other_machines`: the typical gain, and the
    interval of the gain of one further machine like these.
    """

    test: DifferenceTest
    machines: tuple[OfMachine, ...] = ()
    deviation_machines: float | None = None
    deviation_blocks: float | None = None
    other_machines: Estimate = field(default_factory=lambda: undetermined(_FEW))

    @property
    def p(self) -> float | None:
        """The p value of one gain for all machines.

        It is twice the smaller of the F test's, which finds that many differ, and the farthest
        machine's, which finds that one does (Bonferroni).
        """
        of_machines = [each.p_holm for each in self.machines if each.p_holm is not None]
        if self.test.p is None:
            return None
        return min(1.0, 2 * min([self.test.p, *of_machines]))


def no_model(reason: str, count: int) -> MachinesModel:
    """Return a model of `count` machines that is undetermined for this reason."""
    each = OfMachine(undetermined(reason))
    test = DifferenceTest(reason=reason)
    return MachinesModel(test, (each,) * count, other_machines=undetermined(reason))


def gain_over_machines(
    log_ratios: ArrayLike, sites: ArrayLike, machines: ArrayLike, count: int
) -> MachinesModel:
    """Fit log(value / reference) of each block = its site + its machine + chance.

    `sites` and `machines` are positions from 0 on, one per block, in the order in which blocks were
    loaded; there are `count` machines. A machine's gain is the least squares estimate over all
    sites, with equal weights: if it did not load a site, its difference there is taken as that on
    the others. `test` is the F test of machines against batches of their blocks (BATCHES_MAX),
    nested in them; intervals and p values of single machines, after Holm, use the same error. The
    deviation between machines is by restricted maximum likelihood with random machines (Patterson
    and Thompson, Biometrika 58, 1971), whose error contrasts exclude sites. The interval of a
    further machine is Higgins, Thompson and Spiegelhalter's (JRSS A 172, 2009): Student's t with
    two degrees of freedom less than there are machines, on the deviation and the typical gain's
    error. Assumes batches that are independent, and blocks with the same, about normal, scatter on
    the log scale for every machine and site. R: `anova(lm(y ~ site), lm(y ~ site + machine), lm(y ~
    site + batch))`, `nlme::lme(y ~ 0 + site, random = ~ 1 | machine)`.
    """
    y = np.asarray(log_ratios, dtype=float)
    site, machine = np.asarray(sites, dtype=int), np.asarray(machines, dtype=int)
    there = np.unique(machine)
    if len(there) < 2:
        return no_model(_FEW, count)
    machine = np.searchsorted(there, machine)
    design = _Design.of(y, site, machine)
    values, vectors = np.linalg.eigh(design.crossed)
    known = values > _rounding_bound(values)
    if int(known.sum()) < len(there) - 1:
        return no_model(_APART, count)
    inverse = (vectors[:, known] / values[known]) @ vectors[:, known].T
    distances = inverse @ design.sums
    explained = float(design.sums @ distances)
    found = _error(y, site, machine, design, explained)
    if isinstance(found, str):
        return no_model(found, count)
    variance, freedom = found
    freedoms = (len(there) - 1.0, freedom)
    statistic = explained / freedoms[0] / variance
    test = test_result(statistic, float(scipy.special.fdtrc(*freedoms, statistic)), freedoms)
    fixed = _estimate_machines(design, inverse, distances, variance, freedom)
    machines_found = [OfMachine(undetermined("no complete block is left"))] * count
    for place, each in zip(there.tolist(), fixed, strict=True):
        machines_found[place] = each
    between, within = _variances(design, values, vectors)
    return MachinesModel(
        test,
        tuple(machines_found),
        math.sqrt(between),
        math.sqrt(within),
        _estimate_another(design, between, within),
    )


@dataclass(frozen=True)
class _Design:
    """The matrices of the model, from blocks without their sites' means.

    `crossed` is Z'MZ and `sums` Z'My, with Z the machines' columns and M the projection that
    removes sites; `squares` is y'My. `shares`: each machine's share of each site's blocks.
    """

    blocks: int
    site_means: Floats
    site_counts: Floats
    shares: Floats
    crossed: Floats
    sums: Floats
    squares: float

    @classmethod
    def of(cls, y: Floats, site: Places, machine: Places) -> "_Design":
        _, site = np.unique(site, return_inverse=True)
        count = int(machine.max()) + 1
        of_both = np.zeros((int(site.max()) + 1, count))
        np.add.at(of_both, (site, machine), 1.0)
        site_counts = of_both.sum(axis=1)
        means = np.bincount(site, y) / site_counts
        residuals = y - means[site]
        shares = of_both / site_counts[:, None]
        return cls(
            len(y),
            means,
            site_counts,
            shares,
            np.diag(of_both.sum(axis=0)) - of_both.T @ shares,
            np.bincount(machine, residuals, count).astype(float),
            float(residuals @ residuals),
        )

    @property
    def error_of_sites(self) -> float:
        """The variance of the mean of sites' means, relative to that of a block."""
        return float((1 / self.site_counts).sum()) / len(self.site_counts) ** 2


def _error(
    y: Floats, site: Places, machine: Places, design: _Design, explained: float
) -> tuple[float, float] | str:
    """Return the variance of a block for judging machines and its degrees of freedom, or a reason.

    The reason is a string, if there is no such variance.
    """
    count = len(design.sums)
    freedom = len(y) - len(design.site_counts) - (count - 1)
    if freedom < 1:
        return _NO_REPEATS
    left = max(0.0, design.squares - explained)
    if left <= ROUNDING**2 * max(1.0, design.squares):
        return NO_SPREAD
    batches = _Design.of(y, site, _batches(machine))
    values, vectors = np.linalg.eigh(batches.crossed)
    known = values > _rounding_bound(values)
    of_batches = float(((vectors[:, known].T @ batches.sums) ** 2 / values[known]).sum())
    nested = int(known.sum()) - (count - 1)
    if nested < BATCHES_FREEDOM_MIN:
        return left / freedom, float(freedom)
    return (of_batches - explained) / nested, float(nested)


def _rounding_bound(values: Floats) -> float:
    """Return the bound below which an eigenvalue counts as 0."""
    return ROUNDING * max(1.0, float(values.max())) * len(values)


def _batches(machine: Places) -> Places:
    """Return the number of each block's batch, unique over machines."""
    numbers = np.zeros(len(machine), dtype=int)
    begun = 0
    for each in np.unique(machine):
        (own,) = np.nonzero(machine == each)
        batches = max(1, min(BATCHES_MAX, len(own) // BATCH_BLOCKS_MIN))
        numbers[own] = begun + np.arange(len(own)) * batches // len(own)
        begun += batches
    return numbers


def _estimate_machines(
    design: _Design, inverse: Floats, distances: Floats, variance: float, freedom: float
) -> list[OfMachine]:
    mean, shares = float(design.site_means.mean()), design.shares.mean(axis=0)
    gains, ps = [], []
    for place in range(len(distances)):
        own = -shares
        own[place] += 1.0
        error = math.sqrt(variance * (design.error_of_sites + float(own @ inverse @ own)))
        estimate = t_estimate(mean + float(own @ distances), error, freedom, design.blocks)
        gains.append(replace(as_gain(estimate), p=None))
        reach = math.sqrt(variance * float(inverse[place, place]))
        ps.append(2 * float(scipy.special.stdtr(freedom, -abs(distances[place]) / reach)))
    adjusted = holm(ps)
    return [
        OfMachine(gain, float(distance), p)
        for gain, distance, p in zip(gains, distances, adjusted, strict=True)
    ]


def _variances(design: _Design, values: Floats, vectors: Floats) -> tuple[float, float]:
    """Return the variances between machines and within, by restricted maximum likelihood.

    The likelihood is profiled over their ratio.
    """
    turned = (vectors.T @ design.sums) ** 2
    freedom = design.blocks - len(design.site_counts)

    def within(ratio: Floats) -> Floats:
        spread = 1 + np.multiply.outer(ratio, values)
        variances: Floats = (design.squares - ratio * (turned / spread).sum(axis=-1)) / freedom
        return variances

    def loss(ratio: Floats) -> Floats:
        spread = np.log1p(np.multiply.outer(ratio, values))
        losses: Floats = freedom * np.log(within(ratio)) + spread.sum(axis=-1)
        return losses

    candidates = np.concatenate([[0.0], np.geomspace(*_RATIOS, _RATIOS_TRIED)])
    best = int(loss(candidates).argmin())
    ratio = float(candidates[best])
    if best > 0:
        # A ratio of 0 is a solution of its own; for others the minimum is between its neighbours.
        ends = np.log(candidates[[max(1, best - 1), min(len(candidates) - 1, best + 1)]])
        ratio = math.exp(
            scipy.optimize.minimize_scalar(
                lambda on_log: float(loss(np.exp(np.array([on_log])))[0]),
                bounds=tuple(ends),
                method="bounded",
                options={"xatol": 1e-9},
            ).x
        )
    variance = float(within(np.array([ratio]))[0])
    return ratio * variance, variance


def _estimate_another(design: _Design, between: float, within: float) -> Estimate:
    """Return one further machine's gain over these sites."""
    count = len(design.sums)
    if count < MACHINES_MIN:
        return undetermined(f"fewer than {MACHINES_MIN} machines", count)
    ratio, shares = between / within, design.shares.mean(axis=0)
    solved = np.linalg.solve(
        np.eye(count) + ratio * design.crossed, np.column_stack([design.sums, shares])
    )
    typical = float(design.site_means.mean() - ratio * shares @ solved[:, 0])
    error = within * (design.error_of_sites + ratio * float(shares @ solved[:, 1]))
    estimate = t_estimate(typical, math.sqrt(between + error), count - 2, count, CONFIDENCE)
    return replace(as_gain(estimate), p=None)


def largest_distance(machines: Sequence[OfMachine]) -> int | None:
    """Return the position of the machine that differs most from the others; None if unknown."""
    known = [
        ((each.p_holm, -abs(each.distance or 0.0)), place)
        for place, each in enumerate(machines)
        if each.p_holm is not None
    ]
    return min(known)[1] if known else None
