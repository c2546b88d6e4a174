"""The answer to a report's title in one line, and the table of verdicts below it."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.analysis.answers.sentences import (
    FINDINGS,
    bounds_in_words,
    interval_in_words,
    size_in_words,
    why_no_answer,
)
from eyelevel.analysis.claims import CLAIMS, UNDECIDED, is_first_look, verdict_of
from eyelevel.analysis.formats import format_change, format_percent
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.phrases import effect_of
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.disturbance import briefly
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
        for verdict in self.verdicts:
            by_finding.setdefault(verdict.finding, []).append(verdict)
        return by_finding


def comparison_verdicts(contents: StudyResults) -> tuple[ComparisonVerdicts, ...]:
    """Return the primary metric's verdicts, in the order of the plan's comparisons."""
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    return tuple(
        ComparisonVerdicts(
            asked,
            tuple(_verdict(contents, gain) for gain in primary if gain.comparison == asked),
        )
        for asked in contents.comparisons
    )


def headline(contents: StudyResults) -> str:
    """Return one line that answers the title: the first comparison's findings by network.

    Networks with the same finding share a clause, in the plan's order of the first of them;
    findings come before open questions.
    """
    if not contents.cells:
        return why_no_answer(contents, briefly=True)
    if contents.unfinished:
        return f"No verdict yet: {contents.unfinished}."
    if not contents.comparisons:
        return "Only one stack was loaded, so nothing is compared."
    clauses = [
        _format_clause(contents, gains, finding, is_first=not place)
        for place, (finding, gains) in enumerate(_group_by_finding(contents).items())
    ]
    line = "; ".join(clauses)
    if is_first_look(contents):
        return f"{FIRST_LOOK}: {line}."
    is_name = line.startswith(contents.comparisons[0].stack)
    return f"{line}." if is_name else f"{line[0].upper()}{line[1:]}."


def headline_network(contents: StudyResults) -> str:
    """Return the first network that the headline names; empty without a comparison.

    It has a verdict if any network has one, so that examples for readers show a finding.
    """
    first = next(iter(_group_by_finding(contents).values()), None) if contents.comparisons else None
    return first[0].network if first else ""


def _group_by_finding(contents: StudyResults) -> dict[str, list[NetworkGain]]:
    """Group the first comparison's gains by finding, open questions last."""
    by_finding: dict[str, list[NetworkGain]] = {}
    of = (contents.comparisons[0], contents.primary_metric)
    for gain in contents.gains:
        if (gain.comparison, gain.metric) == of:
            by_finding.setdefault(verdict_of(contents, gain) or NO_VERDICT, []).append(gain)
    in_order = sorted(by_finding, key=lambda finding: finding in (*UNDECIDED, NO_VERDICT))
    return {finding: by_finding[finding] for finding in in_order}


def _format_clause(
    contents: StudyResults, gains: Sequence[NetworkGain], finding: str, *, is_first: bool
) -> str:
    where = f"on {_name_networks([gain.network for gain in gains])}"
    form = FINDINGS.get(finding, "{stack} against {reference} has no verdict")
    if is_first:
        what, comma, more = form.partition(",")
        form = f"{what} {{where}}{comma}{more}"
    else:
        form = f"{{where}} {_LATER_CLAUSES.get(finding, form)}"
    clause = form.format(
        **contents.comparisons[0].stated(),
        where=where,
        effect=format_percent(effect_of(gains, contents.smallest_effect), signed=False),
    )
    if finding in CLAIMS:
        clause += f" by {_describe_sizes(gains)}"
    elif finding == "undetermined" and (reason := gains[0].gain.reason):
        withheld = gains[0].network in contents.too_disturbed
        clause += f" ({briefly(reason) if withheld else reason})"
    return clause


def _describe_sizes(gains: Sequence[NetworkGain]) -> str:
    """Return the size of one gain, or the smallest and the largest share of several."""
    if len(gains) == 1:
        return size_in_words(gains[0], claimed=True)
    shares = sorted(abs(gain.gain.value or 0.0) for gain in gains)
    low, high = (format_percent(share, signed=False) for share in (shares[0], shares[-1]))
    return f"{low} to {high}" if low != high else low


def _name_networks(networks: Sequence[str]) -> str:
    if len(networks) > NETWORKS_NAMED_MAX:
        return f"{len(networks)} networks"
    return " and ".join([", ".join(networks[:-1]), networks[-1]] if networks[1:] else networks)


def _verdict(contents: StudyResults, gain: NetworkGain) -> Verdict:
    finding = verdict_of(contents, gain)
    claim = finding if finding in CLAIMS else ""
    word = _WORDS.get(finding, finding or "")
    estimate = gain.gain
    if estimate.value is None:
        withheld = gain.network in contents.too_disturbed
        reason = briefly(estimate.reason) if withheld else estimate.reason
        return Verdict(gain.network, word or "undetermined", "", reason, "")
    interval = estimate.reason
    if estimate.low is not None and estimate.high is not None:
        interval = interval_in_words(estimate, claimed=bool(claim))
        if finding == "no clear difference" and estimate.excludes_zero:
            interval += "; not clear after correction"
        if gain.signs_disagree:
            interval += f"; median {format_change(gain.median.value or 0.0)}"
        if bounds := bounds_in_words(gain, finding or ""):
            interval += f"; {bounds}"
    return Verdict(gain.network, word, claim, size_in_words(gain, bool(claim)), interval)
