"""A study's primary gains by a confidence sequence, and where each comparison stands."""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.p_values import MAY_STOP
from eyelevel.analysis.trials.blocks import limit_of, with_timeouts
from eyelevel.plan.comparisons import Compared, Comparison
from eyelevel.stats.estimate import Estimate, undetermined
from eyelevel.stats.late.timeouts import Timeouts
from eyelevel.stats.repetitions import as_gain
from eyelevel.stats.sequential import confidence_sequence, reach_in_errors
from eyelevel.stats.stopping_rule import STATES, Rule, State, decide, width_at

FAMILY_LEVEL = 0.05

BLOCKS_COUNTED_MAX = 1000
"""What so many would not show, only a quieter machine or a larger effect will."""


def sequential_gains(
    kept: pl.DataFrame,
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    sites: Collection[str],
) -> list[NetworkGain]:
    """The gain by network and comparison with an interval that holds at any stopping time.

    One value a repetition: the mean over sites of log(value / reference); a repetition counts if
    every site has its block. So the gain is the geometric mean's, less one. The family's level,
    5 %, is shared equally (Bonferroni): `p_holm` has the corrected p value at that. `median` is the
    median repetition's median site, without an interval. `kept` has the kept blocks. Assumes what
    `confidence_sequence` does of these values. A timeout counts as its limit. Undetermined with too
    many of them, or with a value of 0, which has no ratio.
    """
    family = len(networks) * len(comparisons)
    repetitions = _repetitions(kept, metric, comparisons, sites)
    by_comparison = repetitions.partition_by(*_COMPARISON, as_dict=True, maintain_order=True)
    gains = []
    for network in networks:
        for asked in comparisons:
            of = (network, asked.stack, asked.reference)
            values = by_comparison.get(of, repetitions.clear())
            late = _timeouts(values, len(sites))
            on_log = confidence_sequence(values["ratio"], FAMILY_LEVEL / family)
            if late.too_many:
                on_log = undetermined(late.too_many, on_log.n)
            if (values["lowest"] <= 0).any() and (values["highest"] < math.inf).all():
                on_log = undetermined("a load's value is 0, so there is no ratio", on_log.n)
            p = None if on_log.p is None else min(1.0, on_log.p * family)
            # No error: a t interval made from it would not hold at a stopping time.
            gain, median = replace(as_gain(on_log), standard_error=None), _median(values["median"])
            gains.append(NetworkGain(*of, metric, gain, p, median, timeouts=late))
    return gains


@dataclass(frozen=True)
class ComparisonState(Compared):
    """Where one comparison stands: its `state`, its interval's width as a share.

    `repetition`: after which it was decided, None while it is open.
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
    """Each comparison's state after a repetition; what is undetermined is open.

    Where a load timed out nothing is futile: it spreads the values once, and how many loads time
    out is an answer, too.
    """
    states = []
    for each in gains:
        gain, width, state = each.gain, None, STATES[0]
        if gain.low is not None and gain.high is not None and gain.value is not None:
            width = gain.high - gain.low
            value, low, high = (math.log1p(bound) for bound in (gain.value, gain.low, gain.high))
            error = (high - low) / 2 / reach_in_errors(gain.n, rule.significance_level)
            n_end = gain.n + repetitions - repetition
            median = math.log1p(each.median.value or 0.0)
            as_arrays = (np.asarray(number) for number in (value, error, median))
            futility = rule.futility and not (each.timeouts and each.timeouts.any)
            given = replace(rule, futility=futility)
            state = STATES[int(decide(given, gain.n, n_end, *as_arrays))]
        since = None if state == STATES[0] else repetition
        of = (each.network, each.stack, each.reference)
        states.append(ComparisonState(*of, state, width, since))
    return states


def blocks_needed(gain: NetworkGain, rule: Rule) -> int | None:
    """After how many blocks with the spread seen so far an interval is narrow enough.

    None if the interval is unknown, or if it would take more than BLOCKS_COUNTED_MAX.
    """
    low, high, n = gain.gain.low, gain.gain.high, gain.gain.n
    if low is None or high is None:
        return None
    width_max = rule.width_max
    if rule.clear_sign and not gain.signs_disagree:
        width_max = max(width_max, abs(gain.gain.value or 0.0))

    def enough(count: int) -> bool:
        return bool(width_at(high - low, n, count, rule.significance_level) <= width_max)

    if not enough(BLOCKS_COUNTED_MAX):
        return None
    return bisect_left(range(n, BLOCKS_COUNTED_MAX), True, key=enough) + n


def _timeouts(values: pl.DataFrame, sites: int) -> Timeouts:
    """Without a test, which would not hold at a stopping time."""
    late, late_reference = (int(values[name].sum()) for name in ("late", "late_reference"))
    lowest, highest = (
        each if isinstance(each, float) else math.inf
        for each in (values["limit_min"].min(), values["limit_max"].max())
    )
    return Timeouts(late, late_reference, values.height * sites, lowest, highest, None)


def _median(medians: pl.Series) -> Estimate:
    """Of the repetitions' log ratios, as a gain, without an interval: it is looked at often."""
    value = medians.median()
    if not isinstance(value, float) or not math.isfinite(value):
        return undetermined("no complete block is left", len(medians))
    return undetermined(MAY_STOP, len(medians), math.expm1(value))


_COMPARISON = ("network", "stack", "reference")


def _repetitions(
    kept: pl.DataFrame, metric: str, comparisons: Sequence[Comparison], sites: Collection[str]
) -> pl.DataFrame:
    """Of each network and comparison each repetition with every site: the mean log `ratio`, the
    sites' `median` one, the `lowest` and `highest` value, how many loads of either stack timed out,
    and their limits. All in one pass, since a study has hundreds of comparisons and tens of looks.
    """
    of_stack, of_reference = (
        kept.select(
            *("network", "site", "repetition", pl.col("stack").alias(side)),
            with_timeouts(metric).alias(column),
            limit_of(metric).alias(f"limit_{column}"),
        )
        for side, column in (("stack", "own"), ("reference", "other"))
    )
    asked = pl.DataFrame(
        [(each.stack, each.reference) for each in comparisons],
        schema={"stack": pl.String, "reference": pl.String},
        orient="row",
    )
    late, late_reference = (pl.col(column).is_infinite() for column in ("own", "other"))
    own, other = (pl.col(each).clip(upper_bound=f"limit_{each}") for each in ("own", "other"))
    ratio = own.log() - other.log()
    return (
        of_stack.join(asked, on="stack", maintain_order="left")
        .join(
            of_reference,
            on=["network", "site", "repetition", "reference"],
            maintain_order="left",
        )
        .drop_nulls()
        .group_by(*_COMPARISON, "repetition")
        .agg(
            pl.len(),
            ratio=ratio.mean(),
            median=ratio.median(),
            lowest=pl.min_horizontal(own, other).min(),
            highest=pl.max_horizontal(own, other).max(),
            late=late.sum(),
            late_reference=late_reference.sum(),
            limit_min=pl.col("limit_own").min(),
            limit_max=pl.col("limit_own").max(),
        )
        .filter(pl.col("len") == len(sites))
        .sort("repetition")
    )
