"""Decide which claims a run makes: the words and colours of pages, tables and figures.

The finding of a gain, one of a closed list. The comparisons that a study left undecided although it
may stop early, and what they need.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.sequential import estimate_blocks_needed
from eyelevel.analysis.stats.hypothesis import gain_equivalence
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Compared

CLAIMS = ("faster", "slower")
"""The verdicts that call a stack faster or slower; all others are drawn in grey."""

UNDECIDED = ("no clear difference", "mean and median disagree", "undetermined")
"""The verdicts that leave the question open."""

WORSE = ("slower", "fewer loads finished")
"""The verdicts by which a stack is worse than its reference."""

FIRST_LOOK_BLOCKS = 6
"""The fewest blocks of a run that is no first look. With fewer, only gains that look large are
found, so that they are overestimates."""


def count_blocks(results: StudyResults) -> int:
    """Return the fewest blocks that a gain of the primary metric rests on.

    The planned number does not do: a network may have lost half of its blocks.
    """
    primary = [gain for gain in results.gains if gain.metric == results.primary_metric]
    counts = [gain.gain.n for gain in primary if gain.gain.determined]
    return min(counts, default=results.plan.blocks)


def count_pairs(results: StudyResults) -> tuple[int, int]:
    """Return the fewest and the most blocks of a site on a network, of the primary metric.

    A repetition counts as long as one site has a block in it (`count_blocks`), so that a site may
    have fewer. Networks without an answer are left out.
    """
    primary = results.primary_metric
    pairs = {
        (cell.network, cell.comparison, cell.site): cell.pairs
        for cell in results.cells
        if cell.metric == primary
    }
    counts = [
        pairs.get((gain.network, gain.comparison, site), 0)
        for gain in results.gains
        if gain.metric == primary and gain.network not in results.too_disturbed
        for site in results.sites
    ]
    planned = results.plan.blocks
    return min(counts, default=planned), max(counts, default=planned)


def is_first_look(results: StudyResults) -> bool:
    """Return whether a run has too few blocks for unqualified claims (FIRST_LOOK_BLOCKS)."""
    return count_blocks(results) < FIRST_LOOK_BLOCKS


def find_undecided(results: StudyResults) -> list[NetworkGain]:
    """Return the primary metric's gains whose verdict is open or absent."""
    primary = [gain for gain in results.gains if gain.metric == results.primary_metric]
    return [gain for gain in primary if (verdict_of(results, gain) or UNDECIDED[0]) in UNDECIDED]


def find_worse(results: StudyResults) -> list[tuple[NetworkGain, str]]:
    """Return the gains whose verdict calls the stack worse than its reference, each with it."""
    found = [(gain, verdict_of(results, gain)) for gain in results.gains]
    return [(gain, how) for gain, how in found if how is not None and how in WORSE]


def verdict_of(results: StudyResults, gain: NetworkGain) -> str | None:
    """Return the verdict on a gain, or None.

    There is none for an unfinished run, for descriptive metrics, and for sites that were chosen
    post hoc.
    """
    if results.unfinished or results.sites_chosen or gain.metric != results.primary_metric:
        return None
    return verdict(gain, results.smallest_effect)


def no_verdict_because(results: StudyResults, gain: NetworkGain) -> str | None:
    """Return why a gain has no verdict; None if it has one."""
    if results.unfinished:
        return f"the run is not complete: {results.unfinished}"
    if results.sites_chosen:
        return "its sites were chosen after the run"
    return None if gain.metric == results.primary_metric else "only the primary metric has one"


def is_claimed(results: StudyResults, gain: NetworkGain) -> bool:
    """Return whether a gain's verdict is faster or slower, as its wording and colour may show."""
    return verdict_of(results, gain) in CLAIMS


SIGNIFICANCE_LEVEL = 0.05
FEW_BLOCKS = 10  # below it, a report warns of what few runs cannot show


def verdict(gain: NetworkGain, smallest_effect: float) -> str:
    """Return the finding of one primary comparison, from the closed list.

    A difference in how many loads finished takes precedence over any finding in another direction:
    a stack whose pages do not finish is not called faster.
    """
    found = _of_gain(gain, effect_of([gain], smallest_effect))
    counts = gain.timeouts
    if not gain.timeouts_differ or counts is None:
        return found
    fewer = counts.count < counts.count_reference
    if found.startswith("faster" if fewer else "slower"):
        return found
    return "more loads finished" if fewer else "fewer loads finished"


def effect_of(gains: Sequence[NetworkGain], smallest_effect: float) -> float:
    """Return the smallest effect of interest of these gains as a share: of several the largest, by
    which what is said of it holds for all."""
    return max([smallest_effect, *(gain.least_share for gain in gains)])


def _of_gain(gain: NetworkGain, smallest_effect: float) -> str:
    estimate = gain.gain
    if estimate.value is None:
        return "undetermined"
    if estimate.low is None or estimate.high is None or gain.p_holm is None:
        return "undetermined"
    alike, has_sign = _is_alike(gain, smallest_effect), gain.p_holm <= SIGNIFICANCE_LEVEL
    if has_sign and not gain.signs_disagree:
        way = "faster" if estimate.value < 0 else "slower"
        return f"{way}, by less than matters" if alike else way
    if alike:
        return "no difference that matters"
    return "mean and median disagree" if has_sign else "no clear difference"


def _is_alike(gain: NetworkGain, smallest_effect: float) -> bool:
    """Return whether the gain is shown to be smaller than the smallest effect, after correction.

    The test is two one-sided tests, corrected over the family by Bonferroni. In a study with a
    fixed number of blocks the whole 95 % interval must lie within the effect, too; in one that may
    stop early the one-sided bounds already allow for the family and the interim analyses.
    """
    bounds = gain.one_sided or gain.gain
    low, high = bounds.low, bounds.high
    if low is None or high is None or low <= -smallest_effect or high >= smallest_effect:
        return False
    if gain.one_sided:
        return True
    p = gain_equivalence(gain.gain, smallest_effect).p
    return p is not None and gain.family * p <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class Undecided(Compared):
    """One comparison without a verdict, and the size of a study that would probably give one.

    `blocks`: how many blocks decide it in four of five cases; `more_blocks`, `more_minutes`: those
    beyond the blocks that count here, and the time of their loads. None if 1,000 blocks are too
    few, or if the comparison has no interval.
    """

    network: str
    stack: str
    reference: str
    gain: NetworkGain
    blocks: int | None
    more_blocks: int | None
    more_minutes: float | None

    def as_json(self) -> JsonObject:
        """Return the JSON of a report (docs/reference/report.md)."""
        minutes = None if self.more_minutes is None else round(self.more_minutes, 1)
        return {
            "blocks": self.blocks,
            "more_blocks": self.more_blocks,
            "more_minutes": minutes,
        }


def estimate_needed(results: StudyResults) -> list[Undecided]:
    """Return the open comparisons of a finished study that may stop early; empty for any other."""
    nothing_claimed = results.unfinished or results.sites_chosen
    if not results.may_stop or nothing_claimed or not results.blocks.kept.height:
        return []
    rule, minutes = rule_of(results.plan), _block_minutes(results.table)
    found = []
    for gain in find_undecided(results):
        blocks = estimate_blocks_needed(gain, rule)
        more = None if blocks is None else blocks - gain.gain.n
        time = None if more is None else more * minutes[gain.network]
        of = (gain.network, gain.stack, gain.reference)
        found.append(Undecided(*of, gain, blocks, more, time))
    return found


def _block_minutes(table: pl.DataFrame) -> dict[str, float]:
    """Return the mean time of a repetition in minutes by network, over all sites and stacks."""
    times = table.group_by("network").agg(
        pl.col("wall_ms").sum() / pl.col("repetition").n_unique() / 60_000
    )
    return dict(times.iter_rows())
