"""A study's primary gains by a confidence sequence, and whether it may stop."""

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.trials.blocks import limit_of, with_timeouts
from eyelevel.plan.comparisons import Compared, Comparison
from eyelevel.stats.estimate import undetermined
from eyelevel.stats.repetitions import as_gain
from eyelevel.stats.sequential import confidence_sequence
from eyelevel.stats.timeouts import too_many

FAMILY_LEVEL = 0.05
FUTILE_WIDTH_RATIO = 1.5  # the spread seen so far is itself uncertain: a smaller excess may vanish

BLOCKS_COUNTED_MAX = 1000
"""What so many would not show, only a quieter machine or a larger effect will."""

State = Literal["narrow enough", "no difference that matters", "futile", "open"]


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
    5 %, is shared equally (Bonferroni): `p_holm` has the corrected p value at that. `kept` has the
    kept blocks. Assumes what `confidence_sequence` does of these values. A timeout counts as its
    limit. Undetermined with too many of them, or with a value of 0, which has no ratio.
    """
    family = len(networks) * len(comparisons)
    gains = []
    for network in networks:
        part = kept.filter(pl.col("network") == network)
        for asked in comparisons:
            values = _repetitions(part, metric, asked, sites)
            on_log = confidence_sequence(values["ratio"], FAMILY_LEVEL / family)
            late = max(int(values[name].sum()) for name in ("late", "late_reference"))
            if reason := too_many(late, values.height * len(sites)):
                on_log = undetermined(reason, on_log.n)
            if (values["lowest"] <= 0).any() and (values["highest"] < math.inf).all():
                on_log = undetermined("a load's value is 0, so there is no ratio", on_log.n)
            p = None if on_log.p is None else min(1.0, on_log.p * family)
            # No error: a t interval made from it would not hold at a stopping time.
            gain = replace(as_gain(on_log), standard_error=None)
            key = (network, asked.stack, asked.reference, metric)
            gains.append(NetworkGain(*key, gain, p))
    return gains


@dataclass(frozen=True)
class ComparisonState(Compared):
    """Where one comparison stands when a study that may stop is looked at."""

    network: str
    stack: str
    reference: str
    state: State
    width: float | None


def comparisons(
    gains: Sequence[NetworkGain],
    interval_width_max: float,
    smallest_effect: float,
    blocks_max: int,
    futility: bool,
) -> list[ComparisonState]:
    """Each comparison's state; the study may stop when none is open."""
    states = []
    for network_gain in gains:
        gain, width = network_gain.gain, None
        state: State = "open"
        if gain.low is not None and gain.high is not None:
            width = gain.high - gain.low
            if -smallest_effect < gain.low and gain.high < smallest_effect:
                state = "no difference that matters"
            elif width <= interval_width_max:
                state = "narrow enough"
            elif futility and _at_the_end(width, gain.n, blocks_max, len(gains)) > (
                FUTILE_WIDTH_RATIO * interval_width_max
            ):
                state = "futile"
        elif gain.value is None and "timed out" in gain.reason:
            state = "futile"  # no further block gives a mean
        of = (network_gain.network, network_gain.stack, network_gain.reference)
        states.append(ComparisonState(*of, state, width))
    return states


def blocks_needed(gain: NetworkGain, interval_width_max: float, family: int) -> int | None:
    """After how many blocks with the spread seen so far an interval is that narrow.

    None if the interval is unknown, or if it would take more than BLOCKS_COUNTED_MAX.
    """
    low, high, n = gain.gain.low, gain.gain.high, gain.gain.n
    if low is None or high is None:
        return None

    def enough(count: int) -> bool:
        return _at_the_end(high - low, n, count, family) <= interval_width_max

    if not enough(BLOCKS_COUNTED_MAX):
        return None
    return bisect_left(range(n, BLOCKS_COUNTED_MAX), True, key=enough) + n


def _repetitions(
    part: pl.DataFrame, metric: str, asked: Comparison, sites: Collection[str]
) -> pl.DataFrame:
    """The mean log `ratio`, `lowest` and `highest` value of each repetition with every site, and
    how many loads of either stack timed out."""
    of_stack, of_reference = (
        part.filter(pl.col("stack") == name).select(
            "site",
            "repetition",
            with_timeouts(metric).alias(column),
            limit_of(metric).alias(f"limit_{column}"),
        )
        for name, column in ((asked.stack, "own"), (asked.reference, "other"))
    )
    late, late_reference = (pl.col(column).is_infinite() for column in ("own", "other"))
    own, other = (pl.col(each).clip(upper_bound=f"limit_{each}") for each in ("own", "other"))
    return (
        of_stack.join(of_reference, on=["site", "repetition"])
        .drop_nulls()
        .group_by("repetition")
        .agg(
            pl.len(),
            ratio=(own.log() - other.log()).mean(),
            lowest=pl.min_horizontal(own, other).min(),
            highest=pl.max_horizontal(own, other).max(),
            late=late.sum(),
            late_reference=late_reference.sum(),
        )
        .filter(pl.col("len") == len(sites))
        .sort("repetition")
    )


def _at_the_end(width: float, n: int, blocks_max: int, family: int) -> float:
    """The width after `blocks_max` values with the spread seen in `n`."""
    level = FAMILY_LEVEL / family

    def reach(count: int) -> float:
        sequence = confidence_sequence(np.arange(float(count)), level)
        if sequence.low is None or sequence.high is None or not sequence.standard_error:
            return math.inf
        return (sequence.high - sequence.low) / sequence.standard_error / math.sqrt(count)

    now = reach(n)
    return width * reach(max(n, blocks_max)) / now if math.isfinite(now) else math.inf
