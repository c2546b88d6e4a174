"""The answer in sentences: one per declared comparison and network, each fit to be quoted alone."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from eyelevel.analysis.answers.rare_loads import slow_sentences, timeout_sentences
from eyelevel.analysis.claims import is_first_look
from eyelevel.analysis.formats import (
    NO_BREAK,
    format_change,
    format_change_interval,
    format_interval,
    format_ms,
    format_percent,
)
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.exclusions import EXCLUDING
from eyelevel.analysis.gains.weighted import weighted_gain
from eyelevel.analysis.phrases import effect_of, verdict
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials import disturbance

SENTENCES_MAX = 8  # in all; beyond it only the first comparison has one per network
NETWORKS_NAMED_MAX = 3  # per comparison: more would bury the answer, and the table has them

FINDINGS = {
    "faster": "{stack} was faster than {reference}",
    "slower": "{stack} was slower than {reference}",
    "more loads finished": "{stack} finished more loads than {reference}",
    "fewer loads finished": "{stack} finished fewer loads than {reference}",
    "faster, by less than matters": "{stack} was faster than {reference}, by less than the "
    "{effect} that matter",
    "slower, by less than matters": "{stack} was slower than {reference}, by less than the "
    "{effect} that matter",
    "no difference that matters": "{stack} and {reference} did not differ by {effect} or more",
    "no clear difference": "it is unclear whether {stack} is faster than {reference}",
    "mean and median disagree": "there is no verdict on {stack} against {reference}, because "
    "mean and median point in opposite directions",
    "undetermined": "the comparison of {stack} with {reference} is undetermined",
}
"""The beginning of each verdict's sentence; networks and amounts follow it."""

_SMALL = [finding for finding in FINDINGS if "matter" in finding]


class Answer(NamedTuple):
    """A sentence of the answer, its text in two parts: the statement, and the evidence for it.

    `claim` is `faster`, `slower` or empty.
    """

    head: str
    rest: str = ""
    claim: str = ""

    def __str__(self) -> str:
        return self.head + self.rest


def answers(contents: StudyResults) -> list[Answer]:
    """Return the answer's sentences; those over all networks of a plan with weights come last.

    An unfinished run is only described, without findings. Without a complete block, the one
    sentence says why there is none.
    """
    if not contents.cells:
        return [Answer(why_no_answer(contents)), *_answers_over_networks(contents)]
    study = (contents.gains, contents.primary_metric, len(contents.sites))
    if contents.unfinished:
        return [*description(*study), *_answers_over_networks(contents)]
    found = answer(*study, contents.smallest_effect)
    if is_first_look(contents):
        found = [_as_first_look(each) if each.claim else each for each in found]
    return [*found, *_answers_over_networks(contents)]


def _as_first_look(claim: Answer) -> Answer:
    return claim._replace(rest=f"{claim.rest.removesuffix('.')}; a first look.")


def answer(
    gains: Sequence[NetworkGain], metric: str, sites: int, smallest_effect: float
) -> list[Answer]:
    """Return one sentence per comparison and network, with its basis and certainty.

    A comparison on more than NETWORKS_NAMED_MAX networks has one sentence per finding. If there
    would be more than SENTENCES_MAX, so has every comparison except the first. Sentences on
    timeouts and slow loads follow their comparison.
    """
    sentences: list[Answer] = []
    by_comparison = _by_comparison(gains, metric)
    many = sum(map(len, by_comparison)) > SENTENCES_MAX
    for primary in by_comparison:
        # The plan's first comparison is its main question.
        if len(primary) > NETWORKS_NAMED_MAX or (many and primary is not by_comparison[0]):
            sentences += _answers_by_finding(primary, smallest_effect, sites)
        else:
            sentences += [_sentence(gain, smallest_effect, sites) for gain in primary]
        sentences += map(Answer, timeout_sentences(primary))
        sentences += map(Answer, slow_sentences(primary))
    return sentences


def description(gains: Sequence[NetworkGain], metric: str, sites: int) -> list[Answer]:
    """Describe an unfinished run: the numbers, without findings."""
    sentences = []
    for primary in _by_comparison(gains, metric):
        asked = primary[0].comparison
        if len(primary) > NETWORKS_NAMED_MAX:
            said = f"So far on {len(primary)} networks, {asked}: {_describe_range(primary)}."
            sentences.append(Answer(said))
            continue
        sentences += [
            Answer(
                f"So far on {gain.network}, {asked}: {_describe_size(gain) or gain.gain.reason}, "
                f"{_describe_basis(gain, sites)}."
            )
            for gain in primary
        ]
    return sentences


def further_answers(contents: StudyResults) -> list[str]:
    """Return the sentences that supplement the answer: timeouts, slow loads, weighted means."""
    sentences: list[str] = []
    if contents.cells and not contents.unfinished:
        for primary in _by_comparison(contents.gains, contents.primary_metric):
            sentences += [*timeout_sentences(primary), *slow_sentences(primary)]
    return [*sentences, *map(str, _answers_over_networks(contents))]


def _by_comparison(gains: Sequence[NetworkGain], metric: str) -> list[list[NetworkGain]]:
    """Group the metric's gains by comparison, in order of appearance."""
    of_pair: dict[object, list[NetworkGain]] = {}
    for gain in gains:
        if gain.metric == metric:
            of_pair.setdefault(gain.comparison, []).append(gain)
    return list(of_pair.values())


def _sentence(gain: NetworkGain, smallest_effect: float, sites: int) -> Answer:
    finding = verdict(gain, smallest_effect)
    claim = finding if finding in ("faster", "slower") else ""
    effect = format_percent(effect_of([gain], smallest_effect), signed=False)
    head = FINDINGS[finding].format(**gain.comparison.stated(), effect=effect)
    clauses = [_describe_size(gain, claimed=bool(claim))]
    clauses.append(bounds_in_words(gain, finding))
    if finding == "undetermined":
        clauses = [gain.gain.reason, clauses[0]]
    elif finding.endswith("loads finished") and gain.timeouts:
        counts = gain.timeouts
        own, other = counts.pairs - counts.count, counts.pairs - counts.count_reference
        clauses.insert(0, f"{own} and {other} of {counts.pairs}")
    elif finding == "no clear difference" and gain.gain.excludes_zero:
        # The interval is for this comparison alone; the verdict is corrected for all of them.
        clauses.append("clear on its own, but not after correction for all comparisons")
    clauses.append(_describe_basis(gain, sites))
    rest = "; ".join(clause for clause in clauses if clause)
    return Answer(f"On {gain.network}, {head}", f"{' by ' if claim else ': '}{rest}.", claim)


def _describe_size(gain: NetworkGain, claimed: bool = False) -> str:
    """Return the difference in ms and as a share, with its interval; empty without a value.

    A `claimed` gain's sentence already states the direction. Without a claim each number has its
    own, so that no reader needs to know which sign is better.
    """
    estimate = gain.gain
    if estimate.value is None:
        return ""
    share = size_in_words(gain, claimed)
    if estimate.low is None:
        return share
    share += f" (95{NO_BREAK}% interval {interval_in_words(estimate, claimed)}"
    if gain.signs_disagree:
        share += f"; median {format_change(gain.median.value or 0.0)}"
    return f"{share})"


def bounds_in_words(gain: NetworkGain, finding: str) -> str:
    """Return the one-sided bounds that show that a gain is too small to matter, else "".

    In a study that may stop early the interval may extend beyond these bounds.
    """
    if finding not in _SMALL or not gain.one_sided:
        return ""
    return (
        f"95{NO_BREAK}% sure to be above {format_percent(gain.one_sided.low or 0.0)}, and "
        f"as sure to be below {format_percent(gain.one_sided.high or 0.0)}"
    )


def size_in_words(gain: NetworkGain, claimed: bool) -> str:
    """Return a determined gain's difference in ms and as a share, without its interval."""
    estimate = gain.gain
    share = _format_share(estimate, claimed)
    difference = gain.difference.value
    if difference is None or not gain.metric.endswith("_ms"):
        return share
    told = format_ms(abs(difference), math.inf)
    if told == format_ms(0.0, math.inf):
        return share
    if difference * (estimate.value or 0.0) < 0:  # a few slow loads weigh more in ms
        way = "faster" if difference < 0 else "slower"
        return f"{share}, although the mean is {told} {way}"
    return f"{told} or {share}"


def _format_share(estimate: Estimate, claimed: bool) -> str:
    value = estimate.value or 0.0
    return format_percent(abs(value), signed=False) if claimed else format_change(value)


def interval_in_words(estimate: Estimate, claimed: bool) -> str:
    """Return the bounds in words; for a claim as amounts without sign, the larger last."""
    if not claimed:
        return format_change_interval(estimate)
    faster = (estimate.value or 0.0) < 0
    return format_interval(_mirror(estimate) if faster else estimate, signed=False)


def _mirror(estimate: Estimate) -> Estimate:
    value, low, high = (
        None if bound is None else -bound for bound in (estimate.value, estimate.high, estimate.low)
    )
    return Estimate(value, low, high)


def _describe_basis(gain: NetworkGain, sites: int) -> str:
    """Return the basis of a sentence: metric, sites and loads."""
    said = f"{title_of(gain.metric)}, {sites} {'site' if sites == 1 else 'sites'}"
    if gain.timeouts and gain.timeouts.pairs:
        pairs = gain.timeouts.pairs
        said += f", {pairs} {'load' if pairs == 1 else 'loads'} per stack"
    return said


def _answers_by_finding(
    gains: Sequence[NetworkGain], smallest_effect: float, sites: int
) -> list[Answer]:
    """Return one sentence per finding."""
    sentences = []
    asked = gains[0].comparison
    for finding, opening in FINDINGS.items():
        found = [gain for gain in gains if verdict(gain, smallest_effect) == finding]
        if not found:
            continue
        effect = format_percent(effect_of(found, smallest_effect), signed=False)
        where = f"{len(found)} networks"
        if len(found) <= NETWORKS_NAMED_MAX:
            where = _join([gain.network for gain in found])
        head = f"On {where}, {opening.format(**asked.stated(), effect=effect)}"
        claim = finding if finding in ("faster", "slower") else ""
        of_sites = f"{sites} {'site' if sites == 1 else 'sites'}"
        rest = f": {_describe_range(found)}; {title_of(gains[0].metric)}, {of_sites}."
        sentences.append(Answer(head, rest, claim))
    return sentences


def _describe_range(gains: Sequence[NetworkGain]) -> str:
    """Return the least and the largest of many gains, and the commonest reason for having none."""
    values = [gain.gain.value for gain in gains if gain.gain.value is not None]
    reasons = Counter(gain.gain.reason for gain in gains if not gain.gain.determined)
    clauses = []
    if values:
        least, largest = min(values), max(values)
        one = format_percent(least) == format_percent(largest)
        of_all = format_change_interval(Estimate(least, least, largest))
        clauses.append(format_change(least) if one else of_all)
    if reasons:
        clauses.append(f"mostly because {reasons.most_common(1)[0][0]}")
    return "; ".join(clauses)


def _join(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def why_no_answer(contents: StudyResults, *, briefly: bool = False) -> str:
    """Return a sentence on why nothing could be compared: the outcome that most excluded loads had.

    `briefly` shortens the reason of a busy machine.
    """
    if contents.too_disturbed:
        network, reason = next(iter(contents.too_disturbed.items()))
        if briefly:
            reason = disturbance.briefly(reason)
        return f"There is no answer. On {network}, {reason}."
    nothing = "No block is complete yet, so there is nothing to compare"
    failed = contents.table.filter(pl.col("outcome").is_in(EXCLUDING))
    if not failed.height:
        return f"{nothing}."
    (outcome, count), *_ = (
        failed.group_by("outcome", maintain_order=True)
        .len()
        .sort("len", descending=True, maintain_order=True)
        .iter_rows()
    )
    details = failed.filter(pl.col("outcome") == outcome)["outcome_detail"]
    detail, often = Counter(details.to_list()).most_common(1)[0]
    which = "" if often == count else "one of them: "
    loads = contents.table.height
    return f"{nothing}: {count} of {loads} loads ended as {outcome}: {which}{detail.rstrip('.')}."


def _answers_over_networks(contents: StudyResults) -> list[Answer]:
    """Return one sentence per comparison on its weighted gain; empty if the plan has no weights."""
    weights, metric = contents.plan.get("weights"), contents.primary_metric
    if not weights:
        return []
    sentences = []
    for asked in contents.comparisons:
        gains = [
            gain for gain in contents.gains if (gain.comparison, gain.metric) == (asked, metric)
        ]
        mean = weighted_gain(gains, weights)
        if mean.value is None or mean.low is None:
            answer_text = f"undetermined ({mean.reason})"
        else:
            reach = f"95{NO_BREAK}% interval {format_change_interval(mean)}"
            answer_text = f"{format_change(mean.value)} ({reach})"
        opening = "So far over" if contents.unfinished else "Over"
        said = f"{opening} all networks, weighted, {asked}: {answer_text}."
        sentences.append(Answer(said))
    return sentences
