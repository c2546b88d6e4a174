"""Decide which claims a run makes: the words and colours of pages, tables and figures."""

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.phrases import verdict
from eyelevel.analysis.study import StudyResults

CLAIMS = ("faster", "slower")
"""The verdicts that call a stack faster or slower; all others are drawn in grey."""

UNDECIDED = ("no clear difference", "mean and median disagree", "undetermined")
"""The verdicts that leave the question open."""

FIRST_LOOK_BLOCKS = 6
"""The fewest blocks of a run that is no first look. With fewer, only gains that look large are
found, so that they are overestimates."""


def count_blocks(contents: StudyResults) -> int:
    """Return the fewest blocks that a gain of the primary metric rests on.

    The planned number does not do: a network may have lost half of its blocks.
    """
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    counts = [gain.gain.n for gain in primary if gain.gain.determined]
    return min(counts, default=int(contents.plan["blocks"]))


def count_pairs(contents: StudyResults) -> tuple[int, int]:
    """Return the fewest and the most blocks of a site on a network, of the primary metric.

    A repetition counts as long as one site has a block in it (`count_blocks`), so that a site may
    have fewer. Networks without an answer are left out.
    """
    primary = contents.primary_metric
    pairs = {
        (cell.network, cell.comparison, cell.site): cell.pairs
        for cell in contents.cells
        if cell.metric == primary
    }
    counts = [
        pairs.get((gain.network, gain.comparison, site), 0)
        for gain in contents.gains
        if gain.metric == primary and gain.network not in contents.too_disturbed
        for site in contents.sites
    ]
    planned = int(contents.plan["blocks"])
    return min(counts, default=planned), max(counts, default=planned)


def is_first_look(contents: StudyResults) -> bool:
    """Return whether a run has too few blocks for unqualified claims (FIRST_LOOK_BLOCKS)."""
    return count_blocks(contents) < FIRST_LOOK_BLOCKS


def undecided(contents: StudyResults) -> list[NetworkGain]:
    """Return the primary metric's gains whose verdict is open or absent."""
    primary = [gain for gain in contents.gains if gain.metric == contents.primary_metric]
    return [gain for gain in primary if (verdict_of(contents, gain) or UNDECIDED[0]) in UNDECIDED]


def verdict_of(contents: StudyResults, gain: NetworkGain) -> str | None:
    """Return the verdict on a gain, or None.

    There is none for an unfinished run, for descriptive metrics, and for sites that were chosen
    post hoc.
    """
    if contents.unfinished or contents.sites_chosen or gain.metric != contents.primary_metric:
        return None
    return verdict(gain, contents.smallest_effect)


def no_verdict_because(contents: StudyResults, gain: NetworkGain) -> str | None:
    """Return why a gain has no verdict; None if it has one."""
    if contents.unfinished:
        return f"the run is not complete: {contents.unfinished}"
    if contents.sites_chosen:
        return "its sites were chosen after the run"
    return None if gain.metric == contents.primary_metric else "only the primary metric has one"


def is_claimed(contents: StudyResults, gain: NetworkGain) -> bool:
    """Return whether a gain's verdict is faster or slower, as its wording and colour may show."""
    return verdict_of(contents, gain) in CLAIMS
