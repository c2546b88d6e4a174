"""Compare two runs of the same sites, networks and stacks by the changes of their gains.

Find the differences between two runs: parts that only one has, and the loads' conditions. Choose
the questions for two runs: comparisons of both against an unchanged stack. The verdicts on two
runs, one per comparison and network, and their common basis.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, get_args

import numpy as np

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.gate import (
    GateError,
    GateStatus,
    Status,
    Verdict,
    decide,
    explain_inconclusive,
    family_confidence,
    format_change,
    format_timeouts,
    withhold_if_unfinished,
)
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate, undetermined
from eyelevel.analysis.stats.gain_change import GainChange, gain_change
from eyelevel.analysis.stats.quantile_gain import Loads
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import limits_by_site, loads_by_repetition
from eyelevel.base.errors import unknown
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import against_one
from eyelevel.plan.plan import Plan


@dataclass(frozen=True)
class RunQuestion:
    """A question on the change of one comparison's gain, or the reason that it has no answer."""

    network: str
    stack: str
    reference: str | None
    unanswerable: str = ""

    def subject(self, metric: str) -> str:
        """Return the subject of the question, as the gate's conditions write it."""
        return f"{self.stack}.{metric} on {self.network}"


def _sites_of_both(old: StudyResults, new: StudyResults) -> list[str]:
    """Return the sites that both runs have with the same recording."""
    before, now = ({site.name: site.digest for site in run.recordings} for run in (old, new))
    return [name for name in now if before.get(name) == now[name]]


def run_questions(
    old: StudyResults, new: StudyResults, control_stack: str | None = None
) -> list[RunQuestion]:
    """Return one question per network and comparison of NEW's plan whose stack both runs have.

    With `control_stack` each stack is compared with that one. If no two stacks are compared, there
    is one question without an answer per stack. Raises GateError if the runs have nothing in
    common, or if one of them lacks the control stack.
    """
    networks = [name for name in new.networks if name in old.networks]
    stacks = [name for name in new.stacks if name in old.stacks]
    if not (_sites_of_both(old, new) and networks and stacks):
        raise GateError(
            f"comparing {old.directory} and {new.directory}: they share no site of the same "
            "recording, network and stack; give two runs of one plan"
        )
    if control_stack is not None and control_stack not in stacks:
        raise GateError(f"--control-stack: {unknown('stack of both runs', control_stack, stacks)}")
    pairs: list[tuple[str, str | None]] = [
        (stack, reference) for stack, reference in _pairs(new, control_stack) if stack in stacks
    ]
    alone = [(stack, None) for stack in stacks]
    return [
        RunQuestion(network, stack, reference, _unanswerable(old, new, reference))
        for network, (stack, reference) in product(networks, pairs or alone)
    ]


def _pairs(new: StudyResults, control_stack: str | None) -> list[tuple[str, str]]:
    """Return the stacks with their references, in the order of the plan."""
    if control_stack is not None:
        return [
            (comparison.stack, comparison.reference)
            for comparison in against_one(control_stack, new.stacks)
        ]
    return [(comparison.stack, comparison.reference) for comparison in new.comparisons]


def _unanswerable(old: StudyResults, new: StudyResults, reference: str | None) -> str:
    """Return why a stack cannot serve as the control of two runs; empty if it can."""
    if reference is None:
        return "no other stack is in both runs"
    before, now = (
        next((stack for stack in run.plan.stacks if stack.name == reference), None)
        for run in (old, new)
    )
    if before is None:
        return f"the earlier run has no {reference}"
    return "" if before == now else f"the settings of {reference} differ between the runs"


_ONE_PLAN = "load what you compare as two stacks of one plan, whose loads share blocks"


@dataclass(frozen=True, kw_only=True)
class RunVerdict(Verdict):
    """The verdict on one comparison on one network.

    `estimate` is the change of its gain between two runs.
    """

    network: str
    stack: str
    reference: str | None
    """The reference; None if the stack is compared with none and so has no verdict."""
    gain_before: Estimate
    gain_now: Estimate

    def as_json(self) -> dict[str, object]:
        """Return the JSON of a report (docs/reference/report.md)."""
        gains = {name: getattr(self, name).as_json() for name in ("gain_before", "gain_now")}
        return super().as_json() | gains


@dataclass(frozen=True)
class RunComparison:
    """The verdicts on two runs, and the differences between the runs, one line each."""

    metric: str
    verdicts: tuple[RunVerdict, ...]
    differences: tuple[str, ...]

    @property
    def assumption(self) -> str:
        """The assumption behind the verdicts on stacks, as a sentence; empty without one.

        Verdicts on whether gains agree need no such assumption: any change of a stack is part of
        them.
        """
        judged = [each for each in self.verdicts if each.status in get_args(GateStatus)]
        found = dict.fromkeys(each.reference for each in judged if each.reference)
        if not found:
            return ""
        return (
            f"Each stack is compared with {' or '.join(found)} in its own run, which assumes "
            f"that both change alike from run to run. To avoid this assumption, {_ONE_PLAN}."
        )

    @property
    def level(self) -> str:
        """A sentence on the confidence of the intervals if it is not 95 %, otherwise empty.

        In a run's own report the interval of the same gain is narrower: it is not corrected for the
        questions on two runs.
        """
        found = [each.confidence for each in self.verdicts if each.estimate.determined]
        if not found or found[0] <= CONFIDENCE:
            return ""
        percent = format_percent(found[0], signed=False)
        return (
            f"All intervals hold together with 95 % confidence: each is a {percent} interval, "
            "wider than a report's."
        )

    def as_json(self) -> JsonObject:
        """Return the JSON that accompanies the verdicts (docs/reference/report.md)."""
        assumes = self.assumption or None
        return {"metric": self.metric, "assumes": assumes, "differences": list(self.differences)}


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

    def answer(question: RunQuestion, found: GainChange) -> _Answer:
        status: Status = "no verdict" if unfinished else decide(found.change, limit)
        needed = found.blocks_to_decide(limit) if status == "inconclusive" else None
        message = (
            f"{question.subject(metric)} {_describe_change(found.change)} "
            f"against {question.reference}; "
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

    def answer(question: RunQuestion, found: GainChange) -> _Answer:
        status: Status = "no verdict" if unfinished else agreement(found.change, limit)
        needed = None
        if status == "cannot tell":
            needed = found.blocks_to_decide(math.copysign(limit, found.change.value or 0.0))
        message = (
            f"{_describe_question(question, metric)} was {format_change(found.before)}, is now "
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
    sites, verdicts = _sites_of_both(old, new), []
    horizons = None
    if old.may_stop or new.may_stop:
        horizons = horizon_of(old.plan), horizon_of(new.plan)
    for question in questions:
        before, now = (_select_loads(run, question, metric, sites) for run in (old, new))
        found = gain_change(before, now, confidence, horizons)
        if question.unanswerable:
            found = _without_interval(found, question.unanswerable)
            status, message, needed = _no_verdict(question, metric, found)
        else:
            status, message, needed = answer(question, found)
            message += format_timeouts(*zip(found.timeouts, (" before", " now"), strict=True))
        if needed:
            message += f"; about {needed} blocks in each run would be enough"
        verdict = RunVerdict(
            name=_describe_question(question, metric),
            status=status,
            message=message,
            estimate=found.change,
            limit=limit,
            confidence=confidence,
            blocks_needed=needed,
            network=question.network,
            stack=question.stack,
            reference=question.reference,
            gain_before=found.before,
            gain_now=found.now,
        )
        verdicts.append(verdict)
    decided = withhold_if_unfinished(verdicts, old, new)
    return RunComparison(metric, tuple(decided), tuple(run_differences(old, new)))


def _select_loads(
    run: StudyResults, question: RunQuestion, metric: str, sites: Sequence[str]
) -> Loads:
    """Return the loads of the stack and its reference, or those of the stack alone.

    The reference counts as 1 if the question has no answer.
    """
    kept, network = run.blocks.kept, question.network
    limits = limits_by_site(kept, network, metric, sites)
    values = loads_by_repetition(kept, network, question.stack, metric, sites)
    if question.unanswerable or question.reference is None:
        return values, np.ones_like(values), limits
    reference = loads_by_repetition(kept, network, question.reference, metric, sites)
    return values, reference, limits


def _without_interval(own: GainChange, reason: str) -> GainChange:
    """Return the change of a stack's own times without an interval.

    An interval would leave out the differences between runs.
    """
    change = undetermined(reason, own.change.n, own.change.value)
    return replace(own, before=undetermined(reason), now=undetermined(reason), change=change)


def _no_verdict(question: RunQuestion, metric: str, found: GainChange) -> _Answer:
    by = "" if found.change.value is None else f" by {format_percent(found.change.value)}"
    message = (
        f"{_describe_question(question, metric)}: its times changed{by}, together with everything "
        f"else that changed between the runs, because {question.unanswerable}; "
        f"to tell them apart, {_ONE_PLAN}"
    )
    return "no verdict", message, None


def _describe_question(question: RunQuestion, metric: str) -> str:
    against = f" against {question.reference}" if question.reference else ""
    return f"{question.subject(metric)}{against}"


def _describe_change(change: Estimate) -> str:
    return f"{'is' if change.value is None else 'changed by'} {format_change(change)}"


NAMED_MAX = 8  # per line: a corpus that was recorded anew has hundreds of sites

# Keys of the environment that can change a gain by themselves.
_COMPARED = ("cpu", "cores", "machine", "versions", "data_plane", "realtime_allowed", "confined")


def run_differences(old: StudyResults, new: StudyResults) -> list[str]:
    """Return the differences between two runs, one line each.

    Parts that only one run has, and that are not compared, come first, then conditions that may
    change a gain.
    """
    return [
        *_list_left_out(old, new),
        *_conditions(old.plan.browser.stated(), new.plan.browser.stated()),
        *_settings(old.plan, new.plan),
        *_environments(old.environment, new.environment),
    ]


def _list_left_out(old: StudyResults, new: StudyResults) -> list[str]:
    digests = {site.name: site.digest for site in old.recordings}
    anew = [s.name for s in new.recordings if digests.get(s.name, s.digest) != s.digest]
    lines = _line("sites whose recording is different now", anew)
    kinds = {
        "sites": (old.plan.sites, new.plan.sites),
        "networks": ([each.name for each in run.plan.networks] for run in (old, new)),
        "stacks": ([each.name for each in run.plan.stacks] for run in (old, new)),
    }
    for kind, (before, after) in kinds.items():
        lines += _line(f"{kind} only in the earlier run", [n for n in before if n not in after])
        lines += _line(f"{kind} only in the later run", [n for n in after if n not in before])
    return lines


def _line(what: str, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names[:NAMED_MAX])
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return [f"{what}, not compared: {listed}{more}"]


def _conditions(old: JsonMapping, new: JsonMapping) -> list[str]:
    """Return the differences between the plans' `browser` settings."""
    lines = []
    for key, after in new.items():
        before = old[key]
        if before == after:
            continue
        names = [_describe_condition(value) for value in (before, after)]
        if names[0] == names[1]:
            lines.append(f"the settings of the {key} `{names[0]}` differ")
        else:
            lines.append(f"`{key}`: {names[0]} before, {names[1]} now")
    return lines


def _describe_condition(value: object) -> str:
    if value is None:
        return "not given"
    if isinstance(value, Mapping):
        return str(value["name"])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings(old: Plan, new: Plan) -> list[str]:
    lines = []
    for before, after in ((old.networks, new.networks), (old.stacks, new.stacks)):
        known = {part.name: part for part in before}
        for part in after:
            if known.get(part.name, part) != part:
                lines.append(f"the settings of `{part.name}` differ")
    return lines


def _environments(old: JsonMapping, new: JsonMapping) -> list[str]:
    lines = []
    for key in _COMPARED:
        before, after = old.get(key), new.get(key)
        if before != after:
            lines.append(
                f"{key.replace('_', ' ')}: {_describe_value(before)} before, "
                f"{_describe_value(after)} now"
            )
    return lines


def _describe_value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    return str(value)
