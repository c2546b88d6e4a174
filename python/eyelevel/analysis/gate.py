"""Decide a gate's conditions: passed, failed or inconclusive.

The conditions of a gate: how they are written, and which loads they refer to.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Literal, TypeVar

import numpy as np
import polars as pl

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import format_interval, format_ms, format_percent
from eyelevel.analysis.gains.cells import pool_for, pools_of
from eyelevel.analysis.stats.censoring import Timeouts
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL, Estimate
from eyelevel.analysis.stats.pooled import Pool
from eyelevel.analysis.stats.quantile import (
    BLOCKS_COUNTED_MAX,
    blocks_min,
    blocks_to_bound,
    quantile_interval,
)
from eyelevel.analysis.stats.quantile_gain import (
    blocks_to_decide,
    blocks_to_part,
    compute_bounded_gain,
    quantile_gain,
    repetitions_min,
)
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import Floats, limits_by_site, loads_by_repetition
from eyelevel.base.errors import ExpectedError, unknown
from eyelevel.plan.user_timings import full_name, is_user_timing

_NUMBER = r"\d+(?:\.\d+)?"
_CONDITION = re.compile(
    r"(?P<stack>\S.*)\.(?P<metric>(?!p\d+ )(?:(?:mark|measure):[^\s.]+|\w+))"
    r"(?:\.p(?P<quantile>\d{1,2}))? "
    rf"(?:(?P<way>worse|better) than (?P<reference>\S.*) by (?P<bound>{_NUMBER}) ?%"
    rf"|(?P<side>above|below) (?P<amount>{_NUMBER}) ?(?P<unit>s|ms)?)"
    r"(?: on (?P<network>\S.*))?"
)
_EXAMPLES = (
    "`quic.speed_index worse than tcp+ by 5% on dsl` or "
    "`quic.largest_contentful_paint.p75 above 2.5 s`"
)


_BLOCKS_MIN = 2
"""The fewest blocks with which a gain has an error."""


class GateError(ExpectedError):
    """A condition that cannot be read, or that refers to something the run lacks."""


@dataclass(frozen=True)
class Condition:
    """One condition on two stacks, or with `reference` None a budget of one.

    For two stacks, `quantile` None stands for a report's gain, over pairs of loads. The condition
    is met beyond `limit` on the side of `above`: a signed share of the reference, or an amount in
    the metric's unit. `network` None: each of the plan's.
    """

    text: str
    stack: str
    metric: str
    quantile: float | None
    above: bool
    limit: float
    reference: str | None
    network: str | None


def parse_condition(
    text: str, stacks: list[str], metrics: list[str], networks: list[str]
) -> Condition:
    """Parse `STACK.METRIC[.pN] worse than STACK by X% [on NETWORK]`, or `... above 2.5 s ...`.

    A metric may be named without its unit, or by its short name; a page's own is `mark:NAME` or
    `measure:NAME`, whose name has no space and no dot here. Raises GateError.
    """
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise GateError(f"--fail-if: `{text}` cannot be read; write it like {_EXAMPLES}")
    metric = full_name(found["metric"], metrics)
    known_metrics = [metric] if is_user_timing(metric) else metrics
    for kind, word, known in (
        ("stack", found["stack"], stacks),
        ("stack", found["reference"] or found["stack"], stacks),
        ("metric", metric, known_metrics),
        ("network", found["network"] or networks[0], networks),
    ):
        if word not in known:
            raise GateError(f"--fail-if: {unknown(kind, word, known)}")
    if found["reference"] == found["stack"]:
        fault = f"`{text}` compares {found['stack']} with itself"
        raise GateError(f"--fail-if: {fault}; name another stack behind `than`")
    if found["quantile"] is None and found["amount"]:
        raise GateError("--fail-if: a budget needs a percentile; write it like speed_index.p75")
    if found["quantile"] is not None and not int(found["quantile"]) > 0:
        raise GateError("--fail-if: the quantile must be p1 to p99; write it like speed_index.p50")
    if found["amount"] and bool(found["unit"]) != metric.endswith("_ms"):
        need = "a limit in `s` or `ms`" if metric.endswith("_ms") else "a limit without a unit"
        raise GateError(f"--fail-if: {metric} needs {need}; write it so")
    if found["way"]:
        limit = float(found["bound"]) / 100 * (1 if found["way"] == "worse" else -1)
    else:
        limit = float(found["amount"]) * (1000 if found["unit"] == "s" else 1)
    above = (found["way"] or found["side"]) in ("worse", "above")
    share = None if found["quantile"] is None else int(found["quantile"]) / 100
    names = found["reference"], found["network"]
    return Condition(text.strip(), found["stack"], metric, share, above, limit, *names)


def check_conditions(conditions: Sequence[Condition], blocks: int, *, may_stop: bool) -> None:
    """Raise GateError for a condition that no run with this many blocks can decide."""
    for each in conditions:
        if each.quantile is None:
            fewest, what, instead = _BLOCKS_MIN, "a gain", ""
        else:
            fewest = (repetitions_min if each.reference else blocks_min)(each.quantile)
            what, instead = f"p{each.quantile * 100:g}", ", or ask about a percentile closer to p50"
            if may_stop:
                gain = f"leave out `.{what}` to ask about the gain, or " if each.reference else ""
                raise GateError(
                    "--fail-if: the plan may stop early (`stop`), but a percentile's interval "
                    f"holds for a single look only; {gain}remove `stop`"
                )
        if blocks < fewest:
            raise GateError(
                f"--fail-if: {what} needs at least {fewest} blocks, but the "
                f"plan has {blocks}: raise `blocks`{instead}"
            )


@dataclass(frozen=True)
class Question:
    """A condition on one network; a budget has one question per site, a comparison one for all."""

    condition: Condition
    network: str
    site: str | None


def questions(
    conditions: Sequence[Condition], networks: Sequence[str], sites: Sequence[str]
) -> list[Question]:
    """Return all questions, which form one family."""
    return [
        Question(each, network, site)
        for each in conditions
        for network, site in product(
            [each.network] if each.network else networks, [None] if each.reference else sites
        )
    ]


def pair_loads(question: Question, results: StudyResults) -> tuple[Floats, Floats, list[float]]:
    """Return both stacks' loads as `loads_of` does, and the least value of a timeout by site."""
    condition = question.condition
    assert condition.reference is not None
    values, reference = (
        loads_of(question, stack, results) for stack in (condition.stack, condition.reference)
    )
    selection = question.network, condition.metric, results.sites
    return values, reference, limits_by_site(results.blocks.kept, *selection)


def loads_of(question: Question, stack: str, results: StudyResults) -> Floats:
    """Return sites x repetitions of the kept blocks: NaN for no load, infinity for a timeout."""
    sites = results.sites if question.site is None else [question.site]
    kept = results.blocks.kept
    return loads_by_repetition(kept, question.network, stack, question.condition.metric, sites)


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


def evaluate(conditions: Sequence[Condition], results: StudyResults) -> list[Verdict]:
    """Return one verdict per question; all intervals hold together in 95 % of runs.

    The questions are one family, corrected by Bonferroni (Dunn, JASA 56, 1961): neither a false
    failure nor a false pass grows with their number, and the interval shown is the one that
    decides. Holm's steps reject more, but their intervals end at the limit itself if they reject
    (Strassburger and Bretz, Statistics in Medicine 27, 2008).
    """
    results = _with_metrics(results, [each.metric for each in conditions])
    family = questions(conditions, results.networks, results.sites)
    confidence = family_confidence(len(family))
    verdicts = [
        _of_two(question, results, confidence)
        if question.site is None
        else _of_one(question, question.site, results, confidence)
        for question in family
    ]
    return withhold_if_unfinished(verdicts, results)


def _with_metrics(results: StudyResults, metrics: Sequence[str]) -> StudyResults:
    """Return the results with a column for each metric: a page's own may be one that no load
    has."""
    kept = results.blocks.kept
    absent = [name for name in metrics if name not in kept.columns]
    if not absent:
        return results
    empty = [pl.lit(None, pl.Float64).alias(name) for name in absent]
    return replace(results, blocks=replace(results.blocks, kept=kept.with_columns(empty)))


def withhold_if_unfinished(verdicts: Sequence[AnyVerdict], *runs: StudyResults) -> list[AnyVerdict]:
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


def _decide_complete(estimate: Estimate, condition: Condition, results: StudyResults) -> Status:
    """Return the status of a condition; "no verdict" for an incomplete run."""
    if results.unfinished:
        return "no verdict"
    return decide(estimate, condition.limit, condition.above)


def _of_two(question: Question, results: StudyResults, confidence: float) -> Verdict:
    condition, note = question.condition, ""
    values, reference, limits = pair_loads(question, results)
    horizon = horizon_of(results.plan) if results.may_stop else None
    if condition.quantile is None:
        loads, pool = (values, reference, limits), pool_of(question, results)
        estimate, late = compute_bounded_gain(loads, confidence, horizon, pool)
        note = format_timeouts((late, ""))
    else:
        estimate = quantile_gain(values, reference, condition.quantile, confidence)
    status, needed = _decide_complete(estimate, condition, results), None
    if status == "inconclusive":
        needed = _blocks_of_two(estimate, condition, confidence, horizon)
        if needed is None and estimate.standard_error is not None:
            note += f"; even {BLOCKS_COUNTED_MAX:,} blocks would not be enough"
    message = (
        f"{_subject(question)} is {format_change(estimate)} against {condition.reference}; "
        f"the limit is {format_percent(abs(condition.limit), signed=False)} "
        f"{'worse' if condition.above else 'better'}{note}"
        f"{explain_inconclusive(status, estimate, needed, may_stop=results.may_stop)}"
    )
    name = f"{condition.text} [{question.network}]"
    return Verdict(name, status, message, estimate, condition.limit, confidence, needed)


def pool_of(question: Question, results: StudyResults) -> Pool | None:
    """Return the pool of both stacks; None if they have none, or if the study may stop early."""
    condition = question.condition
    if results.may_stop or condition.reference is None:
        return None
    kept = results.blocks.kept.filter(network=question.network)
    pools = pools_of(kept, [condition.metric], results.sites)
    return pool_for(pools, question.network, condition.stack, condition.reference, condition.metric)


def _blocks_of_two(
    estimate: Estimate, condition: Condition, confidence: float, horizon: Horizon | None
) -> int | None:
    """Return how many blocks of a study without `stop` would decide it; None if that is unknown."""
    share = condition.quantile
    fewest = _BLOCKS_MIN if share is None else repetitions_min(share)
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


def _of_one(question: Question, site: str, results: StudyResults, confidence: float) -> Verdict:
    condition = question.condition
    assert condition.quantile is not None
    (row,) = loads_of(question, condition.stack, results)
    loads = row[~np.isnan(row)]
    estimate = quantile_interval(loads, condition.quantile, confidence)
    status, needed = _decide_complete(estimate, condition, results), None
    if status == "inconclusive" and len(loads):
        below = float((loads < condition.limit).mean())
        needed = blocks_to_bound(condition.quantile, below, confidence)

    def amount(value: float) -> str:
        if condition.metric.endswith("_ms"):
            return format_ms(value, results.limit_ms / 1000)
        return f"{value:g}"

    bounds = estimate.reason
    if estimate.low is not None and estimate.high is not None:
        above = f"to {amount(estimate.high)}" if math.isfinite(estimate.high) else "or more"
        bounds = amount(estimate.low)
        if estimate.low < math.inf:
            bounds += f" {above}"
    value = "undetermined" if estimate.value is None else amount(estimate.value)
    message = (
        f"{_subject(question)} of {site} is {value} ({bounds}); the limit is "
        f"{amount(condition.limit)}{explain_inconclusive(status, None, needed)}"
    )
    name = f"{condition.text} [{question.network}, {site}]"
    return Verdict(name, status, message, estimate, condition.limit, confidence, needed)


def _subject(question: Question) -> str:
    condition = question.condition
    quantile = "" if condition.quantile is None else f".p{round(100 * condition.quantile)}"
    return f"{condition.stack}.{condition.metric}{quantile} on {question.network}"


def format_timeouts(*counted: tuple[Timeouts, str]) -> str:
    """Return a clause on the loads that timed out, for gains that count them as their limit.

    `counted`: the timeouts, and when they happened, such as " before".
    """
    text = "".join(
        f"; {counts.count} of {counts.pairs} loads against {counts.count_reference} of "
        f"{counts.pairs} timed out{when}"
        for counts, when in counted
        if counts.any
    )
    return f"{text}, and count as their limit" if text else ""


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
