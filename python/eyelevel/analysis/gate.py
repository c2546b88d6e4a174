"""Decide a gate's conditions: passed, failed or inconclusive."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeVar

import numpy as np
import polars as pl

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import format_interval, format_ms, format_percent
from eyelevel.analysis.gains.pools import pool_for, pools_of
from eyelevel.analysis.gate_conditions import (
    BLOCKS_MIN,
    Condition,
    Question,
    loads_of,
    pair_loads,
    questions,
)
from eyelevel.analysis.stats.bounded_gain import blocks_to_part, bounded_gain
from eyelevel.analysis.stats.censoring.timeouts import Timeouts
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate
from eyelevel.analysis.stats.pooled import Pool
from eyelevel.analysis.stats.quantile import BLOCKS_COUNTED_MAX, blocks_to_bound, quantile_interval
from eyelevel.analysis.stats.quantile_gain import blocks_to_decide, quantile_gain, repetitions_min
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.study import StudyResults

GateStatus = Literal["passed", "failed", "inconclusive"]
Status = Literal[GateStatus, "agrees", "disagrees", "cannot tell", "no verdict"]
"""The verdicts. One run has the first three, two runs (`eyelevel.analysis.two_runs`) have all; an
interrupted run has "no verdict"."""

AnyVerdict = TypeVar("AnyVerdict", bound="Verdict")


@dataclass(frozen=True)
class Verdict:
    """The verdict on one condition or comparison, on one network (a budget's: and one site)."""

    name: str
    status: Status
    message: str
    estimate: Estimate
    """The estimate that was tested: a change as a share, or a budget's quantile in the metric's
    unit."""
    limit: float
    confidence: float
    """The interval's confidence, so that all of the family's hold together in 95 %; for a gain in a
    study that may stop early, that of each bound alone."""
    blocks_needed: int | None = None
    """The blocks that would decide an inconclusive condition, if the estimate is the truth."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON of a report (docs/reference/report.md)."""
        return asdict(self) | {"estimate": self.estimate.as_json()}


def evaluate(conditions: Sequence[Condition], contents: StudyResults) -> list[Verdict]:
    """Return one verdict per question; all intervals hold together in 95 % of runs.

    The questions are one family, corrected by Bonferroni (Dunn, JASA 56, 1961): neither a false
    failure nor a false pass grows with their number, and the interval shown is the one that
    decides. Holm's steps reject more, but their intervals end at the limit itself if they reject
    (Strassburger and Bretz, Statistics in Medicine 27, 2008).
    """
    contents = _with_metrics(contents, [each.metric for each in conditions])
    asked_for = questions(conditions, contents.networks, contents.sites)
    confidence = family_confidence(len(asked_for))
    verdicts = [
        _of_two(question, contents, confidence)
        if question.site is None
        else _of_one(question, question.site, contents, confidence)
        for question in asked_for
    ]
    return unless_unfinished(verdicts, contents)


def _with_metrics(contents: StudyResults, metrics: Sequence[str]) -> StudyResults:
    """Return the results with a column for each metric: a page's own may be one that no load
    has."""
    kept = contents.blocks.kept
    absent = [name for name in metrics if name not in kept.columns]
    if not absent:
        return contents
    empty = [pl.lit(None, pl.Float64).alias(name) for name in absent]
    return replace(contents, blocks=replace(contents.blocks, kept=kept.with_columns(empty)))


def unless_unfinished(verdicts: Sequence[AnyVerdict], *runs: StudyResults) -> list[AnyVerdict]:
    """Replace all verdicts by "no verdict", with the reason, if one of `runs` is incomplete."""
    if not (because := next((run.unfinished for run in runs if run.unfinished), "")):
        return list(verdicts)
    return [
        replace(
            each,
            status="no verdict",
            message=f"{each.message}; no verdict, since the run is not complete: {because}",
            blocks_needed=None,
        )
        for each in verdicts
    ]


def family_confidence(questions: int) -> float:
    """Return the confidence of each interval, so that all of them hold together in 95 %."""
    return 1 - SIGNIFICANCE_LEVEL / max(1, questions)


def decide(estimate: Estimate, limit: float, above: bool = True) -> GateStatus:
    """Return "failed" if the whole interval is beyond the limit, "passed" if it is short of it."""
    if estimate.low is None or estimate.high is None:
        return "inconclusive"
    if estimate.low > limit:
        return "failed" if above else "passed"
    if estimate.high < limit:
        return "passed" if above else "failed"
    return "inconclusive"


def _decide_complete(estimate: Estimate, condition: Condition, contents: StudyResults) -> Status:
    """Return the status of a condition; "no verdict" for an incomplete run."""
    if contents.unfinished:
        return "no verdict"
    return decide(estimate, condition.limit, condition.above)


def _of_two(asked: Question, contents: StudyResults, confidence: float) -> Verdict:
    condition, note = asked.condition, ""
    values, reference, limits = pair_loads(asked, contents)
    horizon = horizon_of(contents.planned) if contents.may_stop else None
    if condition.quantile is None:
        loads, pool = (values, reference, limits), pool_of(asked, contents)
        estimate, late = bounded_gain(loads, confidence, horizon, pool)
        note = format_timeouts((late, ""))
    else:
        estimate = quantile_gain(values, reference, condition.quantile, confidence)
    status, needed = _decide_complete(estimate, condition, contents), None
    if status == "inconclusive":
        needed = _blocks_of_two(estimate, condition, confidence, horizon)
        if needed is None and estimate.standard_error is not None:
            note += f"; even {BLOCKS_COUNTED_MAX:,} blocks would not be enough"
    message = (
        f"{_subject(asked)} is {format_change(estimate)} against {condition.reference}; "
        f"the limit is {format_percent(abs(condition.limit), signed=False)} "
        f"{'worse' if condition.above else 'better'}{note}"
        f"{explain_inconclusive(status, estimate, needed, may_stop=contents.may_stop)}"
    )
    name = f"{condition.text} [{asked.network}]"
    return Verdict(name, status, message, estimate, condition.limit, confidence, needed)


def pool_of(asked: Question, contents: StudyResults) -> Pool | None:
    """Return the pool of both stacks; None if they have none, or if the study may stop early."""
    condition = asked.condition
    if contents.may_stop or condition.reference is None:
        return None
    kept = contents.blocks.kept.filter(network=asked.network)
    pools = pools_of(kept, [condition.metric], contents.sites)
    return pool_for(pools, asked.network, condition.stack, condition.reference, condition.metric)


def _blocks_of_two(
    estimate: Estimate, condition: Condition, confidence: float, horizon: Horizon | None
) -> int | None:
    """Return how many blocks of a study without `stop` would decide it; None if that is unknown."""
    share = condition.quantile
    fewest = BLOCKS_MIN if share is None else repetitions_min(share)
    if horizon:
        fewest = max(fewest, horizon.first)
    if estimate.standard_error is None or estimate.value is None or condition.limit <= -1:
        return fewest if 0 < estimate.n < fewest else None
    error = estimate.standard_error * math.sqrt(estimate.n)
    distance = abs(math.log1p(estimate.value) - math.log1p(condition.limit))
    if share is None:
        # Fewer could be enough than there are: a confidence sequence is wider than an interval.
        return blocks_to_part(error, distance, confidence, fewest=estimate.n + 1)
    return blocks_to_decide(error, distance, share, confidence)


def _of_one(asked: Question, site: str, contents: StudyResults, confidence: float) -> Verdict:
    condition = asked.condition
    assert condition.quantile is not None
    (row,) = loads_of(asked, condition.stack, contents)
    loads = row[~np.isnan(row)]
    estimate = quantile_interval(loads, condition.quantile, confidence)
    status, needed = _decide_complete(estimate, condition, contents), None
    if status == "inconclusive" and len(loads):
        below = float((loads < condition.limit).mean())
        needed = blocks_to_bound(condition.quantile, below, confidence)

    def amount(value: float) -> str:
        if condition.metric.endswith("_ms"):
            return format_ms(value, contents.limit_ms / 1000)
        return f"{value:g}"

    bounds = estimate.reason
    if estimate.low is not None and estimate.high is not None:
        above = f"to {amount(estimate.high)}" if math.isfinite(estimate.high) else "or more"
        bounds = amount(estimate.low)
        if estimate.low < math.inf:
            bounds += f" {above}"
    value = "undetermined" if estimate.value is None else amount(estimate.value)
    message = (
        f"{_subject(asked)} of {site} is {value} ({bounds}); the limit is "
        f"{amount(condition.limit)}{explain_inconclusive(status, None, needed)}"
    )
    name = f"{condition.text} [{asked.network}, {site}]"
    return Verdict(name, status, message, estimate, condition.limit, confidence, needed)


def _subject(asked: Question) -> str:
    condition = asked.condition
    quantile = "" if condition.quantile is None else f".p{round(100 * condition.quantile)}"
    return f"{condition.stack}.{condition.metric}{quantile} on {asked.network}"


def format_timeouts(*counted: tuple[Timeouts, str]) -> str:
    """Return a clause on the loads that timed out, for gains that count them as their limit.

    `counted`: the timeouts, and when they happened, such as " before".
    """
    said = "".join(
        f"; {counts.count} of {counts.pairs} loads against {counts.count_reference} of "
        f"{counts.pairs} timed out{when}"
        for counts, when in counted
        if counts.any
    )
    return f"{said}, and count as their limit" if said else ""


def explain_inconclusive(
    status: Status, gain: Estimate | None, blocks: int | None, *, may_stop: bool = False
) -> str:
    """Return a clause for an inconclusive verdict: its sign if certain, and the blocks needed."""
    if status != "inconclusive":
        return ""
    side = ""
    if gain is not None and gain.excludes_zero and gain.low is not None:
        side = f"; it is {'worse' if gain.low > 0 else 'better'}, but by how much is not certain"
    without = " without `stop`" if may_stop else ""
    return side + (f"; about {blocks} blocks{without} would be enough" if blocks else "")


def format_change(estimate: Estimate) -> str:
    """Return a gain with its interval in words, or that it is undetermined and why."""
    if estimate.value is None:
        return f"undetermined ({estimate.reason})"
    if estimate.low is None:
        return f"{format_percent(estimate.value)} without an interval ({estimate.reason})"
    if math.isinf(estimate.value):
        return f"a timeout's ({format_interval(estimate)})"
    return f"{format_percent(estimate.value)} ({format_interval(estimate)})"
