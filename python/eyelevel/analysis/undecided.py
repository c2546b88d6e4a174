"""The comparisons that a study left undecided although it may stop early, and what they need."""

from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.claims import undecided
from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.gains.sequential import blocks_needed
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Compared


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


def estimate_needed(contents: StudyResults) -> list[Undecided]:
    """Return the open comparisons of a finished study that may stop early; empty for any other."""
    nothing_claimed = contents.unfinished or contents.sites_chosen
    if not contents.may_stop or nothing_claimed or not contents.blocks.kept.height:
        return []
    rule, minutes = rule_of(contents.planned), _block_minutes(contents.table)
    found = []
    for gain in undecided(contents):
        blocks = blocks_needed(gain, rule)
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
