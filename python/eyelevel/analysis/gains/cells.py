"""Compare stacks by site, network and metric, then over the sites, then over the networks.

`compare_cells` has one result per site, `compare_networks` their geometric means, with p values
corrected by Holm and by Benjamini and Hochberg, and of equivalence; `compare_overall` weighs the
networks by their use. `pools_of` collects the loads of all stacks of a network for the error that
intervals share. It serves studies with a fixed number of blocks only: one that may stop early has
confidence sequences of each comparison's own values.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.analysis.stats.censoring import (
    SlowLoads,
    Timeouts,
    slow_loads,
    timeouts,
    too_many,
    up_to_limit,
)
from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    SIGNIFICANCE_LEVEL,
    Estimate,
    Floats,
    are_too_few,
    undetermined,
)
from eyelevel.analysis.stats.families import correct, holm, holm_of_attainable
from eyelevel.analysis.stats.hypothesis import Anova, DifferenceTest, anova_of_two, gain_equivalence
from eyelevel.analysis.stats.paired import hodges_lehmann, median
from eyelevel.analysis.stats.paired_gains import (
    NO_RATIO,
    ONE_BLOCK,
    find_zero_scale,
    mean_over_repetitions,
    median_gain,
    of_gain,
    pair_log_ratios,
    performance_gain,
    ratio_over_sites,
    with_interval,
)
from eyelevel.analysis.stats.pooled import (
    Pool,
    beside_gain,
    estimate_pooled_difference,
    estimate_pooled_gain,
    pool_of,
)
from eyelevel.analysis.trials.blocks import limit_of, with_timeouts
from eyelevel.plan.comparisons import Compared, Comparison

Pools = Mapping[tuple[str, str], Pool]
"""Pools by network and metric; absent where too few stacks can share an error."""


def pools_of(kept: pl.DataFrame, metrics: Sequence[str], sites: Collection[str]) -> Pools:
    """Return the pooled errors of the kept loads of `sites`, by network and metric."""
    rows = kept.filter(pl.col("site").is_in(list(sites)))
    columns = [with_timeouts(metric).fill_null(np.nan) for metric in metrics]
    pools = {}
    for (network,), part in rows.partition_by("network", as_dict=True, maintain_order=True).items():
        names, stacks = np.unique(part["stack"].to_numpy(), return_inverse=True)
        places = [
            np.unique(part[name].to_numpy(), return_inverse=True) for name in ("site", "repetition")
        ]
        values = part.select(columns).to_numpy()
        shape = (len(names), *(len(found) for found, _ in places))
        for column, metric in enumerate(metrics):
            loads: Floats = np.full(shape, np.nan)
            loads[stacks, places[0][1], places[1][1]] = values[:, column]
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = dict(zip(names.tolist(), np.log(loads), strict=True))
            if (found := pool_of(logs)) is not None:
                pools[str(network), metric] = found
    return pools


def pool_for(
    pools: Pools | None, network: str, stack: str, reference: str, metric: str
) -> Pool | None:
    """Return the pool that two stacks share; None if either has an error of its own."""
    found = None if pools is None else pools.get((network, metric))
    return found if found is not None and found.shared_by(stack, reference) else None


Key = tuple[str, str, str, str]  # network, stack, reference, metric
Loads = tuple[NDArray[np.int64], Floats, Floats]

NAMED_MAX = 3  # sites; more would bury what is said

_UNKNOWN = undetermined("no complete block is left")
_ANOVA_OF_ONE = anova_of_two([0.0], [0.0])


@dataclass(frozen=True)
class Cell(Compared):
    """One stack against its reference on one site, network and metric, over the kept blocks.

    `without_value` counts pairs that are left out because a load lacks the metric. `loads` has the
    pairs: repetitions, the stack's values and the reference's, infinite for a timeout; `gain`
    counts a timeout as `limit`, in the metric's unit. Statistics are computed on demand: gains over
    sites need none of them, and a report shows only some of a large study's.
    """

    network: str
    site: str
    stack: str
    reference: str
    metric: str
    pairs: int
    without_value: int
    timeouts: int
    timeouts_reference: int
    loads: Loads = field(compare=False, repr=False)
    limit: float = math.inf

    @cached_property
    def median(self) -> float | None:
        """The stack's median; infinite if half of the loads timed out."""
        return median(self.loads[1])

    @cached_property
    def median_reference(self) -> float | None:
        """The reference's median; infinite if half of the loads timed out."""
        return median(self.loads[2])

    @cached_property
    def gain(self) -> Estimate:
        """The relative change of the geometric mean, with its interval."""
        late = too_many(max(self.timeouts, self.timeouts_reference), self.pairs)
        _, x, r = self.loads
        return _gain((up_to_limit(x, self.limit), up_to_limit(r, self.limit)), late)

    @cached_property
    def ratio_of_means(self) -> Estimate:
        """The papers' gain (`eyelevel.analysis.stats.paired_gains`)."""
        return performance_gain(*self.loads[1:])

    @cached_property
    def difference(self) -> Estimate:
        """The Hodges-Lehmann difference within blocks, in the metric's unit."""
        return hodges_lehmann(*self.loads[1:])

    @cached_property
    def anova(self) -> Anova:
        """The papers' analysis of variance."""
        return anova_of_two(*self.loads[1:])


@dataclass(frozen=True)
class NetworkGain(Compared):
    """One stack's gain against its reference on one network and metric, over the sites.

    `gain` is that of the geometric mean, or of the primary metric's arithmetic one where a value is
    0 (`eyelevel.analysis.stats.paired_gains.pair_log_ratios`); `median` is that of a typical
    repetition, `difference` is in the metric's unit, and `ratio_of_means` is the papers' gain.
    `slow_loads` exists for the primary metric only. `gain` and `difference` count a timeout as its
    limit; `timeouts` counts them. The corrected p values are of families over all networks and
    comparisons.
    """

    network: str
    stack: str
    reference: str
    metric: str
    gain: Estimate
    p_holm: float | None = None
    median: Estimate = _UNKNOWN
    difference: Estimate = _UNKNOWN
    ratio_of_means: Estimate = _UNKNOWN
    slow_loads: SlowLoads | None = None
    p_slow_holm: float | None = None
    timeouts: Timeouts | None = None
    p_timeouts_holm: float | None = None
    one_sided: Estimate | None = None
    """One-sided bounds for whether a difference is too small to matter, for studies that may stop
    early. Each holds alone at the comparison's level."""
    family: int = 1
    """The number of tests of the primary metric, on all networks, that are corrected together."""
    zero_scale: float = 0.0
    """The value of a log ratio of 1 in the primary metric's unit, if nearly all loads of a stack
    have 0; else 0."""
    least_share: float = 0.0
    """The plan's smallest effect of interest in ms, as a share of the reference's mean; 0 without
    one."""

    @property
    def is_absolute(self) -> bool:
        """Whether the difference is reported instead of a ratio.

        With a value of 0 there is no ratio, and for scores it would mislead: a layout shift of
        0.002 against 0.001 is no visible "+100 %". So would that of two means which a few loads
        have made (`zero_scale`).
        """
        has_none = self.gain.value is None and self.gain.reason == NO_RATIO
        return self.metric.endswith("_score") or has_none or self.zero_scale > 0

    @property
    def signs_disagree(self) -> bool:
        """Whether mean and median point in opposite directions, so that there is no verdict."""
        return (self.gain.value or 0.0) * (self.median.value or 0.0) < 0

    @property
    def timeouts_differ(self) -> bool:
        """Whether the stacks differ in how many loads did not finish, after correction."""
        return self.p_timeouts_holm is not None and self.p_timeouts_holm <= SIGNIFICANCE_LEVEL


def compare_cells(
    kept: pl.DataFrame, metrics: Sequence[str], comparisons: Sequence[Comparison]
) -> list[Cell]:
    """Return every cell of the study, from the kept loads (`select_blocks`), in a fixed order.

    A pair is two loads of one block, whatever happened to the block's other loads.
    """
    rows = kept.sort("network", "site", "stack", "block")
    values, limits = _values(rows, metrics), _limits(rows, metrics)
    blocks, repetitions = rows["block"].to_numpy(), rows["repetition"].to_numpy()
    ranges: dict[tuple[str, str], dict[str, slice]] = {}
    start = 0
    counted = rows.group_by("network", "site", "stack", maintain_order=True).len()
    for network, site, stack, count in counted.iter_rows():
        ranges.setdefault((network, site), {})[stack] = slice(start, start + count)
        start += count
    cells: list[Cell] = []
    for (network, site), by_stack in ranges.items():
        for comparison in comparisons:
            of_stack, of_reference = (
                by_stack.get(stack, slice(0, 0))
                for stack in (comparison.stack, comparison.reference)
            )
            _, own, other = np.intersect1d(
                blocks[of_stack], blocks[of_reference], assume_unique=True, return_indices=True
            )
            if not len(own):
                continue
            for column, metric in enumerate(metrics):
                pair = (values[of_stack, column][own], values[of_reference, column][other])
                loads = (repetitions[of_stack][own], *pair)
                limit = float(limits[of_stack.start, column])
                key = (network, site, comparison.stack, comparison.reference, metric)
                cells.append(_cell(key, loads, limit))
    return cells


def compare_networks(
    cells: Sequence[Cell],
    primary_metric: str,
    sites: Sequence[str],
    planned: Sequence[Key] = (),
    pools: Pools | None = None,
) -> list[NetworkGain]:
    """Return the gain over `sites` by network, comparison and metric.

    `pools`: the errors that a network's stacks share, for the error of `gain`.

    A gain is undetermined if a site has no cell, and so are the `planned` ones without any cell.
    For the primary metric the p values of gains and of timeouts are corrected after Holm as one
    family over all networks and comparisons
    (`eyelevel.analysis.stats.families.holm_of_attainable`), those of slow loads as a family of
    their own; other metrics are descriptive.
    """
    gains = network_gains(cells, sites, planned, primary_metric, pools)
    primary = [index for index, gain in enumerate(gains) if gain.metric == primary_metric]
    slow = holm([each.p if (each := gains[index].slow_loads) else None for index in primary])
    late = [gains[index].timeouts for index in primary]
    of_gains = [(gains[index].gain.p, 0.0) for index in primary]
    of_timeouts = [
        (counts.p, counts.p_least) if counts and counts.p_least is not None else (None, 0.0)
        for counts in late
    ]
    adjusted, members = holm_of_attainable([*of_gains, *of_timeouts], SIGNIFICANCE_LEVEL)
    halves = adjusted[: len(primary)], adjusted[len(primary) :]
    # The family counts gains without a p value too, where their interval is corrected for it.
    family = len(primary) + members - sum(p is not None for p, _ in of_gains)
    for index, p, p_late, p_slow in zip(primary, *halves, slow, strict=True):
        gains[index] = replace(
            gains[index], p_holm=p, p_slow_holm=p_slow, p_timeouts_holm=p_late, family=family
        )
    return gains


def network_gains(
    cells: Sequence[Cell],
    sites: Sequence[str],
    planned: Sequence[Key] = (),
    primary_metric: str | None = None,
    pools: Pools | None = None,
) -> list[NetworkGain]:
    """Return gains as `compare_networks` does, but uncorrected, for uses without claims."""
    # A planned comparison without cells is reported, too: its absence would look like no plan.
    grouped: dict[Key, list[Cell]] = {key: [] for key in planned}
    for cell in cells:
        key = (cell.network, cell.stack, cell.reference, cell.metric)
        grouped.setdefault(key, []).append(cell)
    return [
        _gain_over_sites(key, group, sites, key[-1] == primary_metric, pool_for(pools, *key))
        for key, group in grouped.items()
    ]


def _make_undetermined_gain(key: Key, reason: str, sites: int) -> NetworkGain:
    lost = undetermined(reason, sites)
    return NetworkGain(*key, lost, None, lost, lost, lost)


def _gain_over_sites(
    key: Key, cells: Sequence[Cell], sites: Sequence[str], primary: bool, pool: Pool | None
) -> NetworkGain:
    if not cells:
        return NetworkGain(*key, _UNKNOWN)
    if absent := sorted(set(sites) - {cell.site for cell in cells}):
        return _make_undetermined_gain(key, f"no complete block of {', '.join(absent)}", len(cells))
    if lacking := sorted(cell.site for cell in cells if cell.without_value and not cell.pairs):
        return _make_undetermined_gain(
            key, f"no load of {', '.join(lacking)} has this metric", len(cells)
        )
    repetitions = np.unique(np.concatenate([cell.loads[0] for cell in cells]))
    x, r = np.full((2, len(cells), len(repetitions)), np.nan)
    for row, cell in enumerate(cells):
        columns = np.searchsorted(repetitions, cell.loads[0])
        x[row, columns], r[row, columns] = cell.loads[1:]
    limits = [cell.limit for cell in cells]
    late = timeouts(x, r, limits)
    limited = up_to_limit(x, limits), up_to_limit(r, limits)
    gain, zero_scale = _gain(limited, late.too_many, pool), 0.0
    if primary and gain.reason == NO_RATIO:
        gain = of_gain(mean_over_repetitions(pair_log_ratios(*limited)))
        zero_scale = find_zero_scale(*limited)
    found = NetworkGain(
        *key,
        gain=name_single([cell.site for cell in cells], ~np.isnan(x), gain),
        median=median_gain(x, r),
        difference=estimate_pooled_difference(*limited, pool),
        ratio_of_means=ratio_over_sites(x, r),
        slow_loads=slow_loads(x, r) if primary else None,
        timeouts=late,
        zero_scale=zero_scale,
    )
    if found.is_absolute:  # the difference replaces the gain
        return found
    return replace(found, difference=beside_gain(found.difference, found.gain))


def name_single(sites: Sequence[str], there: NDArray[np.bool_], gain: Estimate) -> Estimate:
    """Return a gain whose reason names the sites that have one block, where others have more.

    `there`: sites x repetitions, whether there is a pair.
    """
    blocks = there.sum(axis=1)
    if gain.reason != ONE_BLOCK or blocks.max() < 2:
        return gain
    single = [site for site, count in zip(sites, blocks.tolist(), strict=True) if count < 2]
    named = ", ".join(single) if len(single) <= NAMED_MAX else f"each of {len(single)} sites"
    return replace(gain, reason=f"one block of {named} shows no spread")


def _gain(limited: tuple[Floats, Floats], too_many_late: str, pool: Pool | None = None) -> Estimate:
    if too_many_late:
        return undetermined(too_many_late, limited[0].shape[-1])
    return estimate_pooled_gain(*limited, pool)


def _cell(key: tuple[str, str, str, str, str], loads: Loads, limit: float = math.inf) -> Cell:
    repetitions, x, r = loads
    there = ~(np.isnan(x) | np.isnan(r))
    without_value = len(x) - int(there.sum())
    if without_value:
        repetitions, x, r = loads = (repetitions[there], x[there], r[there])
    late, late_reference = (int(np.isinf(side).sum()) for side in (x, r))
    cell = Cell(*key, len(x), without_value, late, late_reference, loads, limit)
    if len(x) == 1 and 0 < x[0] < math.inf and 0 < r[0] < math.inf:
        vars(cell).update(_single_pair_results(float(x[0]), float(r[0])))
    return cell


def _single_pair_results(x: float, r: float) -> dict[str, Estimate | Anova]:
    """Return the four statistics of a single pair, at no cost: there may be half a million pairs.

    A test compares them with the general computations.
    """
    gain = undetermined(ONE_BLOCK, 1, x / r - 1)
    return {
        "gain": gain,
        "ratio_of_means": gain,
        "difference": undetermined(f"{are_too_few(1)} for a 95% interval", 1, x - r),
        "anova": _ANOVA_OF_ONE,
    }


def _values(rows: pl.DataFrame, metrics: Sequence[str]) -> Floats:
    """Return rows x metrics: infinity for a timeout, not-a-number if a load has no value."""
    return rows.select(with_timeouts(name).fill_null(np.nan) for name in metrics).to_numpy()


def _limits(rows: pl.DataFrame, metrics: Sequence[str]) -> Floats:
    """Return rows x metrics: the least value that a timeout stands for."""
    return rows.select("block", *map(limit_of, metrics)).drop("block").to_numpy()


MAY_STOP = "the study could stop at any block, and these do not allow for that"


def value_alone(estimate: Estimate) -> Estimate:
    """Return an estimate without its interval, which would not allow for early stopping."""
    return undetermined(estimate.reason or MAY_STOP, estimate.n, estimate.value)


@dataclass(frozen=True)
class GainTests:
    """One gain with its p values; each is None if it does not exist, equivalence with its reason.

    `family` names the comparisons that `p_benjamini_hochberg` is corrected over: those of one
    metric over all networks and comparisons, as in Holm's correction of the primary metric.
    `members`: how many of them have a p value.
    """

    gain: NetworkGain
    family: str
    members: int
    p_benjamini_hochberg: float | None
    equivalence: DifferenceTest


def gain_tests(
    gains: Sequence[NetworkGain], smallest_effect: float, may_stop: str | None = None
) -> list[GainTests]:
    """Return the tests of each of `gains`, in their order.

    `smallest_effect`: of interest, as a share above 0. `may_stop`: the primary metric of a study
    that may stop early; its gains have anytime-valid p values and get neither of these tests.
    """
    families: dict[str, list[float | None]] = {}
    for gain in gains:
        p = None if gain.metric == may_stop else gain.gain.p
        families.setdefault(gain.metric, []).append(p)
    named = {family_of(metric): values for metric, values in families.items()}
    corrected = correct(named, "benjamini-hochberg")
    adjusted = {name: iter(family.adjusted) for name, family in corrected.items()}
    tests = []
    for gain in gains:
        name = family_of(gain.metric)
        if gain.metric == may_stop:
            alike = DifferenceTest(reason=MAY_STOP)
        else:
            alike = gain_equivalence(gain.gain, max(smallest_effect, gain.least_share))
        tests.append(GainTests(gain, name, corrected[name].members, next(adjusted[name]), alike))
    return tests


def family_of(metric: str) -> str:
    """Return the name of a metric's family of comparisons."""
    return f"{metric}, all networks and comparisons"


def weight_gains(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> Estimate:
    """Return the weighted mean over networks of one stack's gains.

    The weights are taken as known; errors of different networks add in squares, and the interval is
    Student's t with Welch and Satterthwaite's degrees of freedom. It is undetermined if any network
    of `weights` has no gain with an interval: a mean over the others would be of other users.

    In a study that may stop early gains have no errors, but intervals that hold together
    (Bonferroni). The weighted means of their bounds then hold, too, and are wider than necessary.
    """
    if not gains and not weights:
        return undetermined("there is no complete block to compare yet")
    if lacking := _describe_missing(gains, weights):
        return undetermined(lacking, len(gains))
    total = math.fsum(weights.values())
    if all(_is_simultaneous(gain.gain) for gain in gains):
        shares = [weights[gain.network] / total for gain in gains]
        value, low, high = (
            math.fsum(share * bound for share, bound in zip(shares, bounds, strict=True))
            for bounds in zip(
                *((gain.gain.value, gain.gain.low, gain.gain.high) for gain in gains), strict=True
            )
        )
        return Estimate(value, low, high, None, None, None, len(gains))
    return _combine_errors(gains, weights, total)


def _describe_missing(gains: Sequence[NetworkGain], weights: Mapping[str, float]) -> str:
    """Return the networks without an interval and their reasons; empty if all have one."""
    by_network = {gain.network: gain.gain for gain in gains}
    reasons = {}
    for network in weights:
        estimate = by_network.get(network)
        if estimate is None:
            reasons[network] = "no complete block is left"
        elif estimate.low is None or estimate.high is None:
            reasons[network] = estimate.reason or "no interval"
    clauses = [f"{network}: {reason}" for network, reason in reasons.items()]
    if len(clauses) > NAMED_MAX:
        clauses[NAMED_MAX:] = [f"{len(clauses) - NAMED_MAX} more networks"]
    return "; ".join(clauses)


def _is_simultaneous(gain: Estimate) -> bool:
    return gain.standard_error is None and gain.low is not None and gain.high is not None


def _combine_errors(
    gains: Sequence[NetworkGain], weights: Mapping[str, float], total: float
) -> Estimate:
    value, squares, shares = 0.0, 0.0, 0.0
    for network_gain in gains:
        share, gain = weights[network_gain.network] / total, network_gain.gain
        if gain.value is None or gain.standard_error is None or gain.degrees_of_freedom is None:
            reason = gain.reason or "no standard error"
            return undetermined(f"{network_gain.network}: {reason}", len(gains))
        value += share * gain.value
        square = (share * gain.standard_error) ** 2
        squares += square
        shares += square**2 / gain.degrees_of_freedom
    if squares == 0:
        return undetermined("the runs show no spread", len(gains), value)
    return with_interval(value, math.sqrt(squares), squares**2 / shares, len(gains), CONFIDENCE)
