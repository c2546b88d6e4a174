"""Decide what a run claims, and why not more: words and colours of pages, tables and figures."""

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.phrases import verdict
from eyelevel.analysis.study import StudyResults

CLAIMS = ("faster", "slower")
"""The verdicts that call a stack one of these; whatever has none of them is grey."""

UNDECIDED = ("no clear difference", "mean and median disagree", "undetermined")
"""The verdicts that leave the question open."""

FIRST_LOOK_BLOCKS = 6
"""The fewest blocks of a run that is no first look. With fewer, only gains that look large are
found, and so they are overstated."""


def count_blocks(contents: StudyResults) -> int:
    """Return the fewest blocks that a gain of the primary metric rests on.

    What was planned is no answer: a network may have lost half of it.
    """
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    counts = [gain.gain.n for gain in primary if gain.gain.determined]
    return min(counts, default=int(contents.plan["blocks"]))


def is_first_look(contents: StudyResults) -> bool:
    """Return whether its claims are worded and coloured as those of so few blocks."""
    return count_blocks(contents) < FIRST_LOOK_BLOCKS


def undecided(contents: StudyResults) -> list[NetworkGain]:
    """Return the comparisons of the primary metric that have no verdict or an open one."""
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    return [gain for gain in primary if (verdict_of(contents, gain) or UNDECIDED[0]) in UNDECIDED]


def verdict_of(contents: StudyResults, gain: NetworkGain) -> str | None:
    """Return the verdict on a gain; None of an unfinished run, of metrics that only describe, and
    of sites that were chosen afterwards."""
    if contents.unfinished or contents.sites_chosen or gain.metric != contents.primary_metric:
        return None
    return verdict(gain, contents.smallest_effect)


def no_verdict_because(contents: StudyResults, gain: NetworkGain) -> str | None:
    """Return why `verdict_of` gives none."""
    if contents.unfinished:
        return f"the run is not complete: {contents.unfinished}"
    if contents.sites_chosen:
        return "its sites were chosen after the run"
    return None if gain.metric == contents.primary_metric else "only the primary metric has one"


def is_claimed(contents: StudyResults, gain: NetworkGain) -> bool:
    """Return whether a stack may be called faster or slower by this gain, and coloured so."""
    return verdict_of(contents, gain) in CLAIMS
