"""The answer in words.

The answer to a report's title in one line, and the table of verdicts below it. The answer in
sentences: one per declared comparison and network, each fit to be quoted alone. The sentences about
rare loads that accompany a gain: those that timed out, and slow ones.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from eyelevel.analysis.claims import (
    CLAIMS,
    SIGNIFICANCE_LEVEL,
    UNDECIDED,
    effect_of,
    is_first_look,
    verdict,
    verdict_of,
)
from eyelevel.analysis.formats import (
    NO_BREAK,
    format_change,
    format_change_interval,
    format_interval,
    format_ms,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import NetworkGain, weight_gains
from eyelevel.analysis.gains.exclusions import EXCLUDING
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.censoring import SLOW_TIMES, Bound, Timeouts
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials import starvation
from eyelevel.analysis.trials.starvation import briefly
from eyelevel.plan.comparisons import Comparison

NETWORKS_NAMED_MAX = 3  # per finding; more are counted

# Later clauses, after the stacks have been named; other findings use their full sentence.
_LATER_CLAUSES = {
    "faster": "{stack} was faster",
    "slower": "{stack} was slower",
    "more loads finished": "{stack} finished more loads",
    "fewer loads finished": "{stack} finished fewer loads",
    "faster, by less than matters": "{stack} was faster, by less than the {effect} that matter",
    "slower, by less than matters": "{stack} was slower, by less than the {effect} that matter",
    "no difference that matters": "they did not differ by {effect} or more",
    "no clear difference": "it is unclear",
    "undetermined": "it is undetermined",
}

FIRST_LOOK = "A first look"
"""The beginning of a headline that rests on fewer than six blocks."""

NO_VERDICT = "no verdict"

_WORDS = {"no clear difference": "unclear", None: "so far"}


@dataclass(frozen=True)
class Verdict:
    """One comparison on one network: the finding, its size and its interval, in words."""

    network: str
    finding: str
    claim: str
    """`faster`, `slower` or empty; also the CSS class that colours it."""
    size: str
    interval: str


@dataclass(frozen=True)
class ComparisonVerdicts:
    """A comparison's verdicts, one per network in the plan's order."""

    comparison: Comparison
    verdicts: tuple[Verdict, ...]

    def found(self) -> dict[str, list[Verdict]]:
        """Return the verdicts by their finding, in the order of the networks."""
        by_finding: dict[str, list[Verdict]] = {}
        for each in self.verdicts:
            by_finding.setdefault(each.finding, []).append(each)
        return by_finding


def comparison_verdicts(results: StudyResults) -> tuple[ComparisonVerdicts, ...]:
    """Return the primary metric's verdicts, in the order of the plan's comparisons."""
    primary = [gain for gain in results.gains if gain.metric == results.primary_metric]
    return tuple(
        ComparisonVerdicts(
            comparison,
            tuple(_verdict(results, gain) for gain in primary if gain.comparison == comparison),
        )
        for comparison in results.comparisons
    )


def headline(results: StudyResults) -> str:
    """Return one line that answers the title: the first comparison's findings by network.

    Networks with the same finding share a clause, in the plan's order of the first of them;
    findings come before open questions.
    """
    if not results.cells:
        return _why_no_answer(results, briefly=True)
    if results.unfinished:
        return f"No verdict yet: {results.unfinished}."
    if not results.comparisons:
        return "Only one stack was loaded, so nothing is compared."
    clauses = [
        _format_clause(results, gains, finding, is_first=not place)
        for place, (finding, gains) in enumerate(_group_by_finding(results).items())
    ]
    line = "; ".join(clauses)
    if is_first_look(results):
        return f"{FIRST_LOOK}: {line}."
    is_name = line.startswith(results.comparisons[0].stack)
    return f"{line}." if is_name else f"{line[0].upper()}{line[1:]}."


def headline_network(results: StudyResults) -> str:
    """Return the first network that the headline names; empty without a comparison.

    It has a verdict if any network has one, so that examples for readers show a finding.
    """
    first = next(iter(_group_by_finding(results).values()), None) if results.comparisons else None
    return first[0].network if first else ""


def _group_by_finding(results: StudyResults) -> dict[str, list[NetworkGain]]:
    """Group the first comparison's gains by finding, open questions last."""
    by_finding: dict[str, list[NetworkGain]] = {}
    of = (results.comparisons[0], results.primary_metric)
    for gain in results.gains:
        if (gain.comparison, gain.metric) == of:
            by_finding.setdefault(verdict_of(results, gain) or NO_VERDICT, []).append(gain)
    in_order = sorted(by_finding, key=lambda finding: finding in (*UNDECIDED, NO_VERDICT))
    return {finding: by_finding[finding] for finding in in_order}


def _format_clause(
    results: StudyResults, gains: Sequence[NetworkGain], finding: str, *, is_first: bool
) -> str:
    where = f"on {_name_networks([gain.network for gain in gains])}"
    form = FINDINGS.get(finding, "{stack} against {reference} has no verdict")
    if is_first:
        what, comma, more = form.partition(",")
        form = f"{what} {{where}}{comma}{more}"
    else:
        form = f"{{where}} {_LATER_CLAUSES.get(finding, form)}"
    clause = form.format(
        **results.comparisons[0].stated(),
        where=where,
        effect=_format_effect(gains, results.smallest_effect),
    )
    if finding in CLAIMS:
        clause += f" by {_describe_sizes(gains)}"
    elif finding == "undetermined" and (reason := gains[0].gain.reason):
        withheld = gains[0].network in results.too_disturbed
        clause += f" ({briefly(reason) if withheld else reason})"
    return clause


def _describe_sizes(gains: Sequence[NetworkGain]) -> str:
    """Return the size of one gain, or the smallest and the largest share of several."""
    if len(gains) == 1:
        return _size_in_words(gains[0], claimed=True)
    shares = [abs(gain.gain.value or 0.0) for gain in gains if not gain.zero_scale]
    times_ms = [abs(gain.difference.value or 0.0) for gain in gains if gain.zero_scale]
    return " and ".join(_list_ranges(shares, times_ms))


def _list_ranges(shares: Sequence[float], times_ms: Sequence[float]) -> list[str]:
    """Return the least and the largest share, and those of times, as far as there are any."""
    texts = (
        [format_percent(share, signed=False) for share in sorted(shares)],
        [format_ms(time_ms, math.inf) for time_ms in sorted(times_ms)],
    )
    # A range once, even if both of its ends are the same.
    return [" to ".join(dict.fromkeys((each[0], each[-1]))) for each in texts if each]


def _format_effect(gains: Sequence[NetworkGain], smallest_effect: float) -> str:
    """Return the smallest effect of interest of these gains: a share, or ms where there is none."""
    of_ratios = [gain for gain in gains if not gain.zero_scale]
    shares = [effect_of(of_ratios, smallest_effect)] if of_ratios else []
    times_ms = [
        math.log1p(effect_of([gain], smallest_effect)) * gain.zero_scale
        for gain in gains
        if gain.zero_scale
    ]
    return " or ".join(_list_ranges(shares, [max(times_ms)] if times_ms else []))


def _name_networks(networks: Sequence[str]) -> str:
    if len(networks) > NETWORKS_NAMED_MAX:
        return f"{len(networks)} networks"
    return " and ".join([", ".join(networks[:-1]), networks[-1]] if networks[1:] else networks)


def _verdict(results: StudyResults, gain: NetworkGain) -> Verdict:
    finding = verdict_of(results, gain)
    claim = finding if finding in CLAIMS else ""
    word = _WORDS.get(finding, finding or "")
    estimate = gain.gain
    if estimate.value is None:
        withheld = gain.network in results.too_disturbed
        reason = briefly(estimate.reason) if withheld else estimate.reason
        return Verdict(gain.network, word or "undetermined", "", reason, "")
    interval = estimate.reason
    if estimate.low is not None and estimate.high is not None:
        interval = _interval_in_words(gain, claimed=bool(claim))
        if finding == "no clear difference" and estimate.excludes_zero:
            interval += "; not clear after correction"
        if gain.signs_disagree and not gain.zero_scale:
            interval += f"; median {format_change(gain.median.value or 0.0)}"
        if bounds := _bounds_in_words(gain, finding or ""):
            interval += f"; {bounds}"
    return Verdict(gain.network, word, claim, _size_in_words(gain, bool(claim)), interval)


SENTENCES_MAX = 8  # in all; beyond it only the first comparison has one per network

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


def answers(results: StudyResults) -> list[Answer]:
    """Return the answer's sentences; those over all networks of a plan with weights come last.

    An unfinished run is only described, without findings. Without a complete block, the one
    sentence says why there is none.
    """
    if not results.cells:
        return [Answer(_why_no_answer(results)), *_answers_over_networks(results)]
    study = (results.gains, results.primary_metric, len(results.sites))
    if results.unfinished:
        return [*description(*study), *_answers_over_networks(results)]
    found = answer(*study, results.smallest_effect)
    if is_first_look(results):
        found = [_as_first_look(each) if each.claim else each for each in found]
    return [*found, *_answers_over_networks(results)]


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
    by_comparison = _group_by_comparison(gains, metric)
    many = sum(map(len, by_comparison)) > SENTENCES_MAX
    for primary in by_comparison:
        # The plan's first comparison is its main question.
        if len(primary) > NETWORKS_NAMED_MAX or (many and primary is not by_comparison[0]):
            sentences += _answers_by_finding(primary, smallest_effect, sites)
        else:
            sentences += [_sentence(gain, smallest_effect, sites) for gain in primary]
        sentences += map(Answer, _timeout_sentences(primary))
        sentences += map(Answer, _slow_sentences(primary))
    return sentences


def description(gains: Sequence[NetworkGain], metric: str, sites: int) -> list[Answer]:
    """Describe an unfinished run: the numbers, without findings."""
    sentences = []
    for primary in _group_by_comparison(gains, metric):
        comparison = primary[0].comparison
        if len(primary) > NETWORKS_NAMED_MAX:
            text = f"So far on {len(primary)} networks, {comparison}: {_describe_range(primary)}."
            sentences.append(Answer(text))
            continue
        sentences += [
            Answer(
                f"So far on {gain.network}, {comparison}: "
                f"{_describe_size(gain) or gain.gain.reason}, "
                f"{_describe_basis(gain, sites)}."
            )
            for gain in primary
        ]
    return sentences


def further_answers(results: StudyResults) -> list[str]:
    """Return the sentences that supplement the answer: timeouts, slow loads, weighted means."""
    sentences: list[str] = []
    if results.cells and not results.unfinished:
        for primary in _group_by_comparison(results.gains, results.primary_metric):
            sentences += [*_timeout_sentences(primary), *_slow_sentences(primary)]
    return [*sentences, *map(str, _answers_over_networks(results))]


def _group_by_comparison(gains: Sequence[NetworkGain], metric: str) -> list[list[NetworkGain]]:
    """Group the metric's gains by comparison, in order of appearance."""
    of_pair: dict[object, list[NetworkGain]] = {}
    for gain in gains:
        if gain.metric == metric:
            of_pair.setdefault(gain.comparison, []).append(gain)
    return list(of_pair.values())


def _sentence(gain: NetworkGain, smallest_effect: float, sites: int) -> Answer:
    finding = verdict(gain, smallest_effect)
    claim = finding if finding in ("faster", "slower") else ""
    effect = _format_effect([gain], smallest_effect)
    head = FINDINGS[finding].format(**gain.comparison.stated(), effect=effect)
    clauses = [_describe_size(gain, claimed=bool(claim))]
    clauses.append(_bounds_in_words(gain, finding))
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
    Where nearly all loads have 0 it is in ms alone.

    A `claimed` gain's sentence already states the direction. Without a claim each number has its
    own, so that no reader needs to know which sign is better.
    """
    estimate = gain.gain
    if estimate.value is None:
        return ""
    share = _size_in_words(gain, claimed)
    if estimate.low is None:
        return share
    share += f" (95{NO_BREAK}% interval {_interval_in_words(gain, claimed)}"
    if gain.signs_disagree and not gain.zero_scale:
        share += f"; median {format_change(gain.median.value or 0.0)}"
    return f"{share})"


def _bounds_in_words(gain: NetworkGain, finding: str) -> str:
    """Return the one-sided bounds that show that a gain is too small to matter, else "".

    In a study that may stop early the interval may extend beyond these bounds.
    """
    if finding not in _SMALL or not gain.one_sided or gain.zero_scale:
        return ""
    return (
        f"95{NO_BREAK}% sure to be above {format_percent(gain.one_sided.low or 0.0)}, and "
        f"as sure to be below {format_percent(gain.one_sided.high or 0.0)}"
    )


def _size_in_words(gain: NetworkGain, claimed: bool) -> str:
    """Return a determined gain's difference in ms and as a share, without its interval."""
    estimate = gain.gain
    if gain.zero_scale:
        return _format_difference(gain.difference.value or 0.0, claimed)
    share = _format_share(estimate, claimed)
    difference = gain.difference.value
    if difference is None or not gain.metric.endswith("_ms"):
        return share
    size = format_ms(abs(difference), math.inf)
    if size == format_ms(0.0, math.inf):
        return share
    if difference * (estimate.value or 0.0) < 0:  # a few slow loads weigh more in ms
        way = "faster" if difference < 0 else "slower"
        return f"{share}, although the mean is {size} {way}"
    return f"{size} or {share}"


def _format_difference(difference_ms: float, claimed: bool) -> str:
    size = format_ms(abs(difference_ms), math.inf)
    if claimed or size == format_ms(0.0, math.inf):
        return size
    return f"{size} {'faster' if difference_ms < 0 else 'slower'}"


def _format_share(estimate: Estimate, claimed: bool) -> str:
    value = estimate.value or 0.0
    return format_percent(abs(value), signed=False) if claimed else format_change(value)


def _interval_in_words(gain: NetworkGain, claimed: bool) -> str:
    """Return the bounds in words; for a claim as amounts without sign, the larger last."""
    estimate = gain.gain
    if gain.zero_scale:
        bounds = sorted((gain.difference.low or 0.0, gain.difference.high or 0.0), key=abs)
        if not claimed:
            bounds.sort()
        return " to ".join(_format_difference(bound, claimed) for bound in bounds)
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
    text = f"{title_of(gain.metric)}, {sites} {'site' if sites == 1 else 'sites'}"
    if gain.timeouts and gain.timeouts.pairs:
        pairs = gain.timeouts.pairs
        text += f", {pairs} {'load' if pairs == 1 else 'loads'} per stack"
    return text


def _answers_by_finding(
    gains: Sequence[NetworkGain], smallest_effect: float, sites: int
) -> list[Answer]:
    """Return one sentence per finding."""
    sentences = []
    comparison = gains[0].comparison
    for finding, opening in FINDINGS.items():
        found = [gain for gain in gains if verdict(gain, smallest_effect) == finding]
        if not found:
            continue
        effect = _format_effect(found, smallest_effect)
        where = f"{len(found)} networks"
        if len(found) <= NETWORKS_NAMED_MAX:
            where = _join([gain.network for gain in found])
        head = f"On {where}, {opening.format(**comparison.stated(), effect=effect)}"
        claim = finding if finding in ("faster", "slower") else ""
        of_sites = f"{sites} {'site' if sites == 1 else 'sites'}"
        rest = f": {_describe_range(found)}; {title_of(gains[0].metric)}, {of_sites}."
        sentences.append(Answer(head, rest, claim))
    return sentences


def _describe_range(gains: Sequence[NetworkGain]) -> str:
    """Return the least and the largest of many gains, and the commonest reason for having none."""
    known = [gain for gain in gains if gain.gain.value is not None]
    values = [gain.gain.value or 0.0 for gain in known if not gain.zero_scale]
    times_ms = sorted(gain.difference.value or 0.0 for gain in known if gain.zero_scale)
    reasons = Counter(gain.gain.reason for gain in gains if not gain.gain.determined)
    clauses = []
    if values:
        least, largest = min(values), max(values)
        one = format_percent(least) == format_percent(largest)
        of_all = format_change_interval(Estimate(least, least, largest))
        clauses.append(format_change(least) if one else of_all)
    if times_ms:
        ends = (_format_difference(each, claimed=False) for each in (times_ms[0], times_ms[-1]))
        clauses.append(" to ".join(dict.fromkeys(ends)))
    if reasons:
        clauses.append(f"mostly because {reasons.most_common(1)[0][0]}")
    return "; ".join(clauses)


def _join(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _why_no_answer(results: StudyResults, *, briefly: bool = False) -> str:
    """Return a sentence on why nothing could be compared: the outcome that most excluded loads had.

    `briefly` shortens the reason of a busy machine.
    """
    if results.too_disturbed:
        network, reason = next(iter(results.too_disturbed.items()))
        if briefly:
            reason = starvation.briefly(reason)
        return f"There is no answer. On {network}, {reason}."
    nothing = "No block is complete yet, so there is nothing to compare"
    failed = results.table.filter(pl.col("outcome").is_in(EXCLUDING))
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
    loads = results.table.height
    return f"{nothing}: {count} of {loads} loads ended as {outcome}: {which}{detail.rstrip('.')}."


def _answers_over_networks(results: StudyResults) -> list[Answer]:
    """Return one sentence per comparison on its weighted gain; empty if the plan has no weights."""
    weights, metric = results.plan.weights, results.primary_metric
    if not weights:
        return []
    sentences = []
    for comparison in results.comparisons:
        gains = [
            gain for gain in results.gains if (gain.comparison, gain.metric) == (comparison, metric)
        ]
        mean = weight_gains(gains, weights)
        if mean.value is None or mean.low is None:
            answer_text = f"undetermined ({mean.reason})"
        else:
            reach = f"95{NO_BREAK}% interval {format_change_interval(mean)}"
            answer_text = f"{format_change(mean.value)} ({reach})"
        opening = "So far over" if results.unfinished else "Over"
        text = f"{opening} all networks, weighted, {comparison}: {answer_text}."
        sentences.append(Answer(text))
    return sentences


_RARE_SENTENCES_MAX = 3  # per comparison; on more networks they are counted

_BOUNDS: dict[Bound, str] = {
    "at least": "a longer one could only raise the gain",
    "at most": "a longer one could only lower the gain",
    "either way": "a longer one could move the gain either way",
    "": "",
}


def _timeout_sentences(gains: Sequence[NetworkGain]) -> list[str]:
    """Return sentences on how many loads timed out and what that means for gains."""
    late = [(gain, gain.timeouts) for gain in gains if gain.timeouts and gain.timeouts.any]
    if len(late) > _RARE_SENTENCES_MAX:
        own, other, loads = (
            sum(counts) for counts in zip(*((t.count, t.count_reference, t.pairs) for _, t in late),
                                          strict=True)
        )  # fmt: skip
        text = f"{own} of {loads} loads with {gains[0].stack} and {other} of {loads}"
        return [
            f"Unfinished loads on {len(late)} networks: {text} with {gains[0].reference} did not "
            "finish in time; each counts as its limit."
        ]
    return [_timeout_sentence(gain, counts) for gain, counts in late]


def _timeout_sentence(gain: NetworkGain, counts: Timeouts) -> str:
    loads, p = counts.pairs, gain.p_timeouts_holm
    sentence = (
        f"Unfinished loads on {gain.network}: {counts.count} of {loads} with {gain.stack} and "
        f"{counts.count_reference} of {loads} with {gain.reference} did not finish "
        f"{format_limit(counts)}"
    )
    if p is not None:
        sentence += f" (corrected {format_p_equation(p)})"
    if not gain.metric.endswith("_ms"):
        return f"{sentence}."
    bound = _BOUNDS[counts.bound] if gain.gain.value is not None else ""
    sentence += f"; each counts as the limit{f' ({bound})' if bound else ''}"
    mean = gain.difference
    if mean.value is not None:
        sentence += f"; the mean difference is then {format_signed_ms(mean.value, math.inf)}"
        if mean.low is not None and mean.high is not None:
            low, high = (format_signed_ms(bound, math.inf) for bound in (mean.low, mean.high))
            sentence += f" ({low} to {high})"
    return f"{sentence}."


def format_limit(counts: Timeouts) -> str:
    """Return the time limit of loads, such as `within 60 s`, or its range if sites differ."""
    low, high = (limit / 1000 for limit in (counts.limit_min, counts.limit_max))
    if math.isinf(high):  # the metric is not a time
        return "in time"
    return f"within {low:g} s" if low == high else f"within {low:g} to {high:g} s"


def _slow_sentences(gains: Sequence[NetworkGain]) -> list[str]:
    """Return sentences on rare slow loads that are significant after the family's correction."""
    sentences = []
    for gain in gains:
        slow, p = gain.slow_loads, gain.p_slow_holm
        if slow is None or p is None or p > SIGNIFICANCE_LEVEL:
            continue
        shares = ((slow.share, gain.stack), (slow.share_reference, gain.reference))
        own, other = (
            f"{format_percent(share.value or 0.0, signed=False)} of {name}'s loads "
            f"({format_interval(share, signed=False)})"
            for share, name in shares
        )
        sentences.append(
            f"Slow loads on {gain.network}: {own} and {other} took more than {SLOW_TIMES:g} "
            f"times their stack's median; {format_p_equation(p)} after correction for all "
            "comparisons."
        )
    if len(sentences) > _RARE_SENTENCES_MAX:
        return [
            f"The shares of slow loads differ on {len(sentences)} networks ({gains[0].comparison})."
        ]
    return sentences
