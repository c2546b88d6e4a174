"""How findings are said."""

import math
from collections import Counter
from collections.abc import Sequence

from eyelevel.analysis.formats import (
    format_interval,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.shown import title_of
from eyelevel.stats.estimate import smallest_detectable
from eyelevel.stats.slow_loads import SLOW_TIMES
from eyelevel.stats.timeouts import Bound, Timeouts

SIGNIFICANCE_LEVEL = 0.05
NETWORKS_NAMED_MAX = 3  # of one finding: more would bury the answer, and the table has them
FEW_BLOCKS = 10  # below it, a report warns of what so few runs cannot show


def verdict(gain: NetworkGain, smallest_effect: float) -> str:
    """What one primary comparison says: the closed list of findings."""
    estimate = gain.gain
    if estimate.value is None:
        return "undetermined"
    if estimate.low is None or estimate.high is None or gain.p_holm is None:
        return "undetermined"
    matters = not (-smallest_effect < estimate.low and estimate.high < smallest_effect)
    if not matters:
        return "no difference that matters"
    if gain.p_holm <= SIGNIFICANCE_LEVEL:
        if gain.signs_disagree:
            return "mean and median disagree"
        return "faster" if estimate.value < 0 else "slower"
    return "no clear difference"


_OPENINGS = {
    "faster": "{stack} was faster than {reference}",
    "slower": "{stack} was slower than {reference}",
    "no difference that matters": "{stack} and {reference} did not differ by what matters",
    "no clear difference": "no clear difference between {stack} and {reference}",
    "mean and median disagree": "{stack} against {reference} has no verdict, since mean and median "
    "have opposite signs,",
    "undetermined": "{stack} against {reference} is undetermined",
}


def answer(gains: Sequence[NetworkGain], metric: str, smallest_effect: float) -> list[str]:
    """The answer to the study's question: one sentence a comparison, with its uncertainty."""
    sentences = []
    for asked in dict.fromkeys(gain.comparison for gain in gains):
        clauses = []
        primary = [gain for gain in gains if gain.comparison == asked and gain.metric == metric]
        for finding, opening in _OPENINGS.items():
            gains_found = [gain for gain in primary if verdict(gain, smallest_effect) == finding]
            if gains_found:
                open_end = finding == "no clear difference"
                details = _join([_detail(gain, open_end) for gain in gains_found])
                if len(gains_found) > NETWORKS_NAMED_MAX:
                    details = f"{len(gains_found)} networks ({_range(gains_found)})"
                clauses.append(f"{opening.format(**asked.stated())} on {details}")
        if clauses:
            sentences.append(f"{title_of(metric)}: {'; '.join(clauses)}.")
        sentences += _timeout_sentences(primary)
        sentences += _slow_sentences(primary)
    return sentences


_BOUNDS: dict[Bound, str] = {
    "at least": "so the true gain is at least that",
    "at most": "so the true gain is at most that",
    "either way": "so the true gain may lie on either side",
    "": "",
}


def _timeout_sentences(gains: Sequence[NetworkGain]) -> list[str]:
    """How many loads did not come, wherever one did not, and what it does to the gain."""
    late = [(gain, gain.timeouts) for gain in gains if gain.timeouts and gain.timeouts.any]
    if len(late) > NETWORKS_NAMED_MAX:
        own, other, loads = (
            sum(counts) for counts in zip(*((t.count, t.count_reference, t.pairs) for _, t in late),
                                          strict=True)
        )  # fmt: skip
        said = f"{own} of {loads} loads of {gains[0].stack} against {other} of {loads}"
        return [
            f"Timeouts on {len(late)} networks: {said} of {gains[0].reference} did not come in "
            "time; each counts as its limit."
        ]
    return [_timeout_sentence(gain, counts) for gain, counts in late]


def _timeout_sentence(gain: NetworkGain, counts: Timeouts) -> str:
    loads, p = counts.pairs, gain.p_timeouts_holm
    sentence = (
        f"Timeouts on {gain.network}: {counts.count} of {loads} loads of {gain.stack} against "
        f"{counts.count_reference} of {loads} of {gain.reference} did not come "
        f"{format_limit(counts)}"
    )
    if p is not None:
        sentence += f" ({format_p_equation(p)} among all comparisons)"
    if not gain.metric.endswith("_ms"):
        return f"{sentence}."
    bound = _BOUNDS[counts.bound] if gain.gain.value is not None else ""
    sentence += f"; each counts as the limit{', ' if bound else ''}{bound}"
    mean = gain.difference
    if mean.value is not None:
        sentence += (
            f", and the mean difference up to it is {format_signed_ms(mean.value, math.inf)}"
        )
        if mean.low is not None and mean.high is not None:
            low, high = (format_signed_ms(bound, math.inf) for bound in (mean.low, mean.high))
            sentence += f" ({low} to {high})"
    return f"{sentence}."


def format_limit(counts: Timeouts) -> str:
    """By when the loads were to come, the least and the largest of several sites: `within 60 s`."""
    low, high = (limit / 1000 for limit in (counts.limit_min, counts.limit_max))
    if math.isinf(high):  # of a metric that is no time
        return "in time"
    return f"within {low:g} s" if low == high else f"within {low:g} to {high:g} s"


def description(gains: Sequence[NetworkGain], metric: str) -> list[str]:
    """What is there of an unfinished run: the numbers, a sentence a comparison, and no finding."""
    sentences = []
    for asked in dict.fromkeys(gain.comparison for gain in gains):
        primary = [gain for gain in gains if gain.comparison == asked and gain.metric == metric]
        numbers = _join([_detail(gain) for gain in primary])
        if len(primary) > NETWORKS_NAMED_MAX:
            numbers = f"{len(primary)} networks ({_range(primary)})"
        if primary:
            sentences.append(f"{title_of(metric)} so far, {asked}: {numbers}.")
    return sentences


def _slow_sentences(gains: Sequence[NetworkGain]) -> list[str]:
    """Where rare slow loads are an answer of their own, after the family's correction."""
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
            f"Slow loads on {gain.network}: {own} took more than {SLOW_TIMES:g} times their "
            f"stack's median, and {other}; {format_p_equation(p)} among all comparisons."
        )
    if len(sentences) > NETWORKS_NAMED_MAX:
        return [f"Slow loads of {gains[0].comparison} differ on {len(sentences)} networks."]
    return sentences


def detectable(gains: Sequence[NetworkGain], metric: str) -> tuple[float, float] | None:
    """The smallest and the largest, over comparisons, of the effects that the runs could show."""
    effects = [
        smallest_detectable(gain.gain.standard_error, gain.gain.degrees_of_freedom)
        for gain in gains
        if gain.metric == metric
        and gain.gain.standard_error is not None
        and gain.gain.degrees_of_freedom is not None
    ]
    return (min(effects), max(effects)) if effects else None


def _detail(gain: NetworkGain, unclear: bool = False) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return f"{gain.network} ({estimate.reason})"
    if not estimate.determined:
        return f"{gain.network} ({format_percent(estimate.value)}; {estimate.reason})"
    clause = f"{format_percent(estimate.value)}, 95 % interval {format_interval(estimate)}"
    if unclear and estimate.excludes_zero:
        # The interval is of this one comparison; the verdict allows for all of them.
        clause += f"; clear if it were the only comparison, p = {gain.p_holm:.2g} among all of them"
    if gain.difference.value is not None and gain.metric.endswith("_ms"):
        clause += f", {format_signed_ms(gain.difference.value, math.inf)}"
    if gain.signs_disagree:
        clause += f"; median {format_percent(gain.median.value or 0.0)}"
    return f"{gain.network} ({clause})"


def _range(gains: Sequence[NetworkGain]) -> str:
    """The least and the largest gain of many networks, or why there is none."""
    values = [gain.gain.value for gain in gains if gain.gain.value is not None]
    reasons = Counter(gain.gain.reason for gain in gains if not gain.gain.determined)
    clauses = [f"{format_percent(min(values))} to {format_percent(max(values))}"] if values else []
    if reasons:
        clauses.append(f"mostly since {reasons.most_common(1)[0][0]}")
    return "; ".join(clauses) + "; each in the tables"


def _join(parts: Sequence[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
