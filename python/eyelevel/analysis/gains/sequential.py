"""A study's primary gains by a confidence sequence, and the state of each comparison."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import MAY_STOP, NetworkGain, name_single
from eyelevel.analysis.stats.censoring import timeouts_so_far, up_to_limit
from eyelevel.analysis.stats.estimate import Estimate, Floats, undetermined
from eyelevel.analysis.stats.paired_gains import (
    ONE_BLOCK,
    as_gain,
    find_zero_scale,
    pair_log_ratios,
    repetition_values,
)
from eyelevel.analysis.stats.sequential import Horizon, confidence_sequence
from eyelevel.analysis.stats.stopping_rule import (
    STATES,
    UNFINISHED,
    Rule,
    State,
    blocks_to_decide,
    decide,
)
from eyelevel.analysis.trials.blocks import limit_of, with_timeouts
from eyelevel.plan.comparisons import Compared, Comparison

FAMILY_LEVEL = 0.05
TIMEOUTS_SHARE = 0.1
"""The tests of unfinished loads get this share of the family's level, the gains the rest. It costs
gains 3 % more blocks, and finds 25 % against none in ten repetitions of ten sites
(`benchmarks.statistics.lost_objects`)."""
GAINS_LEVEL = (1 - TIMEOUTS_SHARE) * FAMILY_LEVEL


def sequential_gains(
    kept: pl.DataFrame,
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    sites: Collection[str],
    horizon: Horizon,
) -> list[NetworkGain]:
    """Return the gain by network and comparison, with an interval valid at all interim analyses.

    A repetition has one value: the mean over sites of log(value / reference), centred by site where
    blocks are lost (`eyelevel.analysis.stats.paired_gains.repetition_values`). So the gain is that
    of the geometric mean. The family's level is shared (Bonferroni): `p_holm` and `p_timeouts_holm`
    have the p values corrected for their parts of it, `one_sided` the bounds that each hold at the
    gain's part alone. `median` is the median repetition's median site, without an interval.

    `kept` has the kept loads; `horizon` the interim analyses. A timeout counts as its limit. The
    assumptions are those of `confidence_sequence`. With a value of 0 it is the gain of arithmetic
    means (`eyelevel.analysis.stats.paired_gains.pair_log_ratios`). A gain is undetermined with too
    many timeouts, or while a site has fewer than two blocks.
    """
    family = len(networks) * len(comparisons)
    pairs = _pairs(kept, metric, comparisons)
    by_comparison = pairs.partition_by(*_COMPARISON, as_dict=True, maintain_order=True)
    gains = []
    for network in networks:
        for comparison in comparisons:
            of = (network, comparison.stack, comparison.reference)
            names, x, r, limits = _values_by_site(by_comparison.get(of, pairs.clear()), sites)
            late = timeouts_so_far(x, r, limits)
            on_log, bounds, medians = _estimate_log_ratio(
                x, r, limits, GAINS_LEVEL / family, horizon
            )
            if late.too_many:
                on_log = bounds = undetermined(late.too_many, on_log.n)
            p, p_late = (
                None if each is None else min(1.0, each * family / share)
                for each, share in ((on_log.p, 1 - TIMEOUTS_SHARE), (late.p, TIMEOUTS_SHARE))
            )
            # Without an error: a t interval made from it would not hold at a stopping time.
            gain, median = replace(as_gain(on_log), standard_error=None), _median(medians)
            gain = name_single(names, ~np.isnan(x), gain)
            one_sided = replace(as_gain(bounds), p=None, standard_error=None)
            found = NetworkGain(*of, metric, gain, p, median, timeouts=late, p_timeouts_holm=p_late)
            found = replace(found, one_sided=one_sided)
            if gain.low is not None and (
                scale := find_zero_scale(up_to_limit(x, limits), up_to_limit(r, limits))
            ):
                difference = _estimate_difference(x, r, limits, GAINS_LEVEL / family, horizon)
                found = replace(found, zero_scale=scale, difference=difference)
            gains.append(found)
    return gains


def _estimate_difference(
    x: Floats, r: Floats, limits: Floats, significance_level: float, horizon: Horizon
) -> Estimate:
    """Return the mean difference in the metric's unit, with two-sided bounds."""
    values = repetition_values(up_to_limit(x, limits) - up_to_limit(r, limits))
    return replace(confidence_sequence(values, significance_level, horizon), standard_error=None)


def _estimate_log_ratio(
    x: Floats, r: Floats, limits: Floats, significance_level: float, horizon: Horizon
) -> tuple[Estimate, Estimate, Floats]:
    """Return the mean log ratio with two-sided and with one-sided bounds, and medians of sites.

    The medians are one per repetition.
    """

    def without(reason: str, value: float | None = None) -> tuple[Estimate, Estimate, Floats]:
        lacking = undetermined(reason, n, value)
        return lacking, lacking, medians

    own, other = up_to_limit(x, limits), up_to_limit(r, limits)
    n, medians = x.shape[1], np.full(0, np.nan)
    if not n or np.isnan(x).all(axis=1).any():
        return without("no complete block is left")
    if np.isinf(own).any() or np.isinf(other).any():
        return without("a load timed out, so there is no mean")
    ratios = pair_log_ratios(own, other)
    medians = np.nanmedian(ratios, axis=0)
    if (~np.isnan(ratios)).sum(axis=1).min() < 2:
        return without(ONE_BLOCK, float(np.nanmean(ratios, axis=1).mean()))
    values = repetition_values(ratios)
    interval, bounds = (
        confidence_sequence(values, significance_level, horizon, one_sided=one_sided)
        for one_sided in (False, True)
    )
    return interval, bounds, medians


@dataclass(frozen=True)
class ComparisonState(Compared):
    """The state of one comparison: decided how, and its interval's width as a share.

    `repetition`: the one after which it was decided; None while it is open.
    """

    network: str
    stack: str
    reference: str
    state: State
    width: float | None
    repetition: int | None = None


def comparison_states(
    gains: Sequence[NetworkGain], rule: Rule, repetition: int, repetitions: int
) -> list[ComparisonState]:
    """Return each comparison's state after a repetition; undetermined ones are open.

    A comparison with a timeout is never futile: the timeout widens the interval only once, and the
    number of timeouts is a result, too.
    """
    states = []
    for each in gains:
        gain, width, state = each.gain, None, STATES[0]
        if gain.low is not None and gain.high is not None and gain.value is not None:
            width = gain.high - gain.low
            value = math.log1p(gain.value)
            error = _error(each.gain, rule)
            n_end = gain.n + repetitions - repetition
            median = math.log1p(each.median.value or 0.0)
            as_arrays = (np.asarray(number) for number in (value, error, median))
            futility = rule.futility and not (each.timeouts and each.timeouts.any)
            given = replace(_rule_for(each, rule), futility=futility)
            state = STATES[int(decide(given, gain.n, n_end, *as_arrays))]
        if each.timeouts_differ:
            state = STATES[UNFINISHED]
        since = None if state == STATES[0] else repetition
        of = (each.network, each.stack, each.reference)
        states.append(ComparisonState(*of, state, width, since))
    return states


def estimate_blocks_needed(gain: NetworkGain, rule: Rule) -> int | None:
    """Return the blocks of a study that would decide this comparison in four of five cases.

    It assumes the present values. None if there is no interval, or if 1,000 blocks are too few.
    """
    if gain.gain.value is None or gain.gain.low is None:
        return None
    error = _error(gain.gain, rule)
    own = _rule_for(gain, rule)
    return blocks_to_decide(own, gain.gain.n, math.log1p(gain.gain.value), error)


def _rule_for(gain: NetworkGain, rule: Rule) -> Rule:
    """Return the rule with the smallest effect of interest of this comparison."""
    return replace(rule, smallest_effect=max(rule.smallest_effect, gain.least_share))


def _error(gain: Estimate, rule: Rule) -> float:
    """Return the standard error of the mean log ratio, computed from the interval.

    It takes the upper half: with two noisy blocks the lower bound is -1 to a float's last digit.
    """
    assert gain.value is not None and gain.high is not None
    return (math.log1p(gain.high) - math.log1p(gain.value)) / rule.reaches(gain.n)[0]


def _median(medians: Floats) -> Estimate:
    """Return the median gain without an interval, which would not allow for interim analyses."""
    value = float(np.median(medians)) if len(medians) else math.nan
    if not math.isfinite(value):
        return undetermined("no complete block is left", len(medians))
    return undetermined(MAY_STOP, len(medians), math.expm1(value))


_COMPARISON = ("network", "stack", "reference")


def _pairs(kept: pl.DataFrame, metric: str, comparisons: Sequence[Comparison]) -> pl.DataFrame:
    """Return every pair of each network and comparison: `own`, `other`, and the load's limit.

    One pass serves all: a study has hundreds of comparisons and tens of interim analyses.
    """
    of_stack, of_reference = (
        kept.select(
            *("network", "site", "repetition", pl.col("stack").alias(side)),
            with_timeouts(metric).alias(column),
            limit_of(metric).alias(f"limit_{column}"),
        )
        for side, column in (("stack", "own"), ("reference", "other"))
    )
    wanted = pl.DataFrame(
        [(each.stack, each.reference) for each in comparisons],
        schema={"stack": pl.String, "reference": pl.String},
        orient="row",
    )
    pairs = of_stack.join(wanted, on="stack", maintain_order="left").join(
        of_reference,
        on=["network", "site", "repetition", "reference"],
        maintain_order="left",
    )
    return pairs.drop("limit_other").drop_nulls()


def _values_by_site(
    pairs: pl.DataFrame, sites: Collection[str]
) -> tuple[list[str], Floats, Floats, Floats]:
    """Return the sites, both stacks' values as sites x repetitions, and each site's limit."""
    names, rows = np.unique([*sites, *pairs["site"]], return_inverse=True)
    repetitions, columns = np.unique(pairs["repetition"].to_numpy(), return_inverse=True)
    rows = rows[len(sites) :]
    x, r = np.full((2, len(names), len(repetitions)), np.nan)
    limits = np.full(len(names), math.inf)
    x[rows, columns], r[rows, columns] = pairs["own"].to_numpy(), pairs["other"].to_numpy()
    limits[rows] = pairs["limit_own"].to_numpy()
    return names.tolist(), x, r, limits
