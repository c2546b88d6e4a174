"""Compare two runs of the same sites, networks and stacks by the changes of their gains."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.gate import (
    Status,
    decide,
    explain_inconclusive,
    family_confidence,
    format_change,
    format_timeouts,
    unless_unfinished,
)
from eyelevel.analysis.run_differences import run_differences
from eyelevel.analysis.run_questions import RunQuestion, run_questions, sites_of_both
from eyelevel.analysis.run_verdicts import ONE_PLAN, RunComparison, RunVerdict
from eyelevel.analysis.stats.bounded_gain import Loads
from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.analysis.stats.gain_change import GainChange, gain_change
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import limits_by_site, loads_by_repetition

Agreement = Literal["agrees", "disagrees", "cannot tell"]
_Answer = tuple[Status, str, int | None]


def compare_runs(
    old: StudyResults,
    new: StudyResults,
    metric: str,
    limit: float,
    control_stack: str | None = None,
) -> RunComparison:
    """Decide whether a stack became slower from `old` to `new`, over the sites that both have.

    Each comparison of NEW's plan (with `control_stack`: each stack against that one) is made within
    each run. It fails if the whole interval of its gain's change is beyond `limit`, and passes if
    the whole interval is short of it. The intervals of all hold together in 95 % (Bonferroni).
    Without a reference that is the same in both runs there is no verdict. Parts that only one run
    has are not compared but listed as differences. Raises GateError if the runs have nothing in
    common.
    """
    unfinished = old.unfinished or new.unfinished

    def answer(asked: RunQuestion, found: GainChange) -> _Answer:
        status: Status = "no verdict" if unfinished else decide(found.change, limit)
        needed = found.blocks_to_decide(limit) if status == "inconclusive" else None
        message = (
            f"{asked.subject(metric)} {_describe_change(found.change)} against {asked.reference}; "
            f"the limit is {format_percent(limit, signed=False)} slower"
            f"{explain_inconclusive(status, found.change, None)}"
        )
        return status, message, needed

    return _compare(old, new, metric, limit, run_questions(old, new, control_stack), answer)


def rerun_agrees(
    original: StudyResults, again: StudyResults, metric: str, limit: float
) -> RunComparison:
    """Decide whether each gain of a repeated run agrees with the original's.

    It agrees if the interval of its change lies within the smallest effect of interest (`limit`) on
    both sides, and disagrees if the interval lies beyond it. The rest is as in `compare_runs`.
    """
    unfinished = original.unfinished or again.unfinished

    def answer(asked: RunQuestion, found: GainChange) -> _Answer:
        status: Status = "no verdict" if unfinished else agreement(found.change, limit)
        needed = None
        if status == "cannot tell":
            needed = found.blocks_to_decide(math.copysign(limit, found.change.value or 0.0))
        message = (
            f"{_describe_question(asked, metric)} was {format_change(found.before)}, is now "
            f"{format_change(found.now)}, and {_describe_change(found.change)}; what matters is "
            f"{format_percent(limit, signed=False)}"
        )
        return status, message, needed

    return _compare(original, again, metric, limit, run_questions(original, again), answer)


def agreement(change: Estimate, limit: float) -> Agreement:
    """Return "agrees" if the whole interval is within `limit` of 0, "disagrees" if beyond it."""
    if change.low is None or change.high is None:
        return "cannot tell"
    if -limit < change.low and change.high < limit:
        return "agrees"
    return "disagrees" if change.low > limit or change.high < -limit else "cannot tell"


def _compare(
    old: StudyResults,
    new: StudyResults,
    metric: str,
    limit: float,
    questions: Sequence[RunQuestion],
    answer: Callable[[RunQuestion, GainChange], _Answer],
) -> RunComparison:
    confidence = family_confidence(sum(not each.unanswerable for each in questions))
    sites, verdicts = sites_of_both(old, new), []
    horizons = None
    if old.may_stop or new.may_stop:
        horizons = horizon_of(old.planned), horizon_of(new.planned)
    for asked in questions:
        before, now = (_loads(run, asked, metric, sites) for run in (old, new))
        found = gain_change(before, now, confidence, horizons)
        if asked.unanswerable:
            found = _without_interval(found, asked.unanswerable)
            status, message, needed = _no_verdict(asked, metric, found)
        else:
            status, message, needed = answer(asked, found)
            message += format_timeouts(*zip(found.timeouts, (" before", " now"), strict=True))
        if needed:
            message += f"; about {needed} blocks in each run would be enough"
        verdict = RunVerdict(
            name=_describe_question(asked, metric),
            status=status,
            message=message,
            estimate=found.change,
            limit=limit,
            confidence=confidence,
            blocks_needed=needed,
            network=asked.network,
            stack=asked.stack,
            reference=asked.reference,
            gain_before=found.before,
            gain_now=found.now,
        )
        verdicts.append(verdict)
    decided = unless_unfinished(verdicts, old, new)
    return RunComparison(metric, tuple(decided), tuple(run_differences(old, new)))


def _loads(run: StudyResults, asked: RunQuestion, metric: str, sites: Sequence[str]) -> Loads:
    """Return the loads of the stack and its reference, or those of the stack alone.

    The reference counts as 1 if the question has no answer.
    """
    kept, network = run.blocks.kept, asked.network
    limits = limits_by_site(kept, network, metric, sites)
    values = loads_by_repetition(kept, network, asked.stack, metric, sites)
    if asked.unanswerable or asked.reference is None:
        return values, np.ones_like(values), limits
    reference = loads_by_repetition(kept, network, asked.reference, metric, sites)
    return values, reference, limits


def _without_interval(own: GainChange, reason: str) -> GainChange:
    """Return the change of a stack's own times without an interval.

    An interval would leave out the differences between runs.
    """
    change = undetermined(reason, own.change.n, own.change.value)
    return replace(own, before=undetermined(reason), now=undetermined(reason), change=change)


def _no_verdict(asked: RunQuestion, metric: str, found: GainChange) -> _Answer:
    by = "" if found.change.value is None else f" by {format_percent(found.change.value)}"
    message = (
        f"{_describe_question(asked, metric)}: its times changed{by}, together with everything "
        f"else that changed between the runs, because {asked.unanswerable}; "
        f"to tell them apart, {ONE_PLAN}"
    )
    return "no verdict", message, None


def _describe_question(asked: RunQuestion, metric: str) -> str:
    against = f" against {asked.reference}" if asked.reference else ""
    return f"{asked.subject(metric)}{against}"


def _describe_change(change: Estimate) -> str:
    return f"{'is' if change.value is None else 'changed by'} {format_change(change)}"
