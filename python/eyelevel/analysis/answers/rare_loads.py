"""The sentences about rare loads that accompany a gain: those that timed out, and slow ones."""

import math
from collections.abc import Sequence

from eyelevel.analysis.formats import (
    format_interval,
    format_p_equation,
    format_percent,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.phrases import SIGNIFICANCE_LEVEL
from eyelevel.analysis.stats.censoring.slow_loads import SLOW_TIMES
from eyelevel.analysis.stats.censoring.timeouts import Bound, Timeouts

SENTENCES_MAX = 3  # per comparison; on more networks they are counted

_BOUNDS: dict[Bound, str] = {
    "at least": "a longer one could only raise the gain",
    "at most": "a longer one could only lower the gain",
    "either way": "a longer one could move the gain either way",
    "": "",
}


def timeout_sentences(gains: Sequence[NetworkGain]) -> list[str]:
    """Return sentences on how many loads timed out and what that means for gains."""
    late = [(gain, gain.timeouts) for gain in gains if gain.timeouts and gain.timeouts.any]
    if len(late) > SENTENCES_MAX:
        own, other, loads = (
            sum(counts) for counts in zip(*((t.count, t.count_reference, t.pairs) for _, t in late),
                                          strict=True)
        )  # fmt: skip
        said = f"{own} of {loads} loads with {gains[0].stack} and {other} of {loads}"
        return [
            f"Unfinished loads on {len(late)} networks: {said} with {gains[0].reference} did not "
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


def slow_sentences(gains: Sequence[NetworkGain]) -> list[str]:
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
    if len(sentences) > SENTENCES_MAX:
        return [
            f"The shares of slow loads differ on {len(sentences)} networks ({gains[0].comparison})."
        ]
    return sentences
