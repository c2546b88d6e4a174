"""What exclusions do: each primary gain with the blocks that the instrument's rules leave out.

Whether a load is excluded depends on how it went, so that an exclusion may take away what is being
measured. A load that failed a rule but ended all the same has a value: with it the gain can be
computed again, and the difference shows how much hangs on the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.plan.comparisons import Compared
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

MEASURED = "primary_measured"
"""The column of the primary metric's value whatever the outcome; null where the load never ended,
and of one that timed out."""

EXCLUDING = tuple(name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.excludes_block)


@dataclass(frozen=True)
class ExclusionEffect(Compared):
    """One comparison's gain over the blocks that are compared, and over all that have values.

    Of a network's `blocks` so many are `blocks_excluded` since a load of any stack failed, and of
    these `blocks_with_values` have values of both stacks; `failed` and `failed_reference` are the
    loads that failed.
    """

    network: str
    stack: str
    reference: str
    metric: str
    blocks: int
    blocks_excluded: int
    blocks_with_values: int
    failed: int
    failed_reference: int
    gain: NetworkGain
    gain_with_excluded: NetworkGain

    @property
    def moved(self) -> float:
        """By how much the gain moves, as a share; 0 where one of them is undetermined."""
        before, after = self.gain.gain.value, self.gain_with_excluded.gain.value
        return 0.0 if before is None or after is None else abs(after - before)


def with_excluded(table: pl.DataFrame, metric: str, stacks: Sequence[str]) -> pl.DataFrame:
    """The trials of every block that ran whole on one machine, as if none had failed: `metric` as
    it was measured.

    `table` is the study's (`eyelevel.analysis.run_files.read_table`).
    """
    late = pl.col("outcome") == "timeout"
    whole = pl.col("stack").n_unique().over("block") == len(stacks)
    whole &= pl.col("machine").n_unique().over("block") == 1
    return table.filter(whole).with_columns(
        pl.col(MEASURED).alias(metric),
        outcome=pl.when(late).then(pl.lit("timeout")).otherwise(pl.lit("ok")),
    )


def exclusion_effects(
    table: pl.DataFrame,
    excluded: Sequence[str],
    gains: Sequence[NetworkGain],
    gains_with_excluded: Sequence[NetworkGain],
) -> list[ExclusionEffect]:
    """One a gain on whose network a load excluded its block, in the order of `gains`.

    `excluded`: the names of these blocks.
    """
    failed = pl.col("outcome").is_in(EXCLUDING)
    with_value = pl.col(MEASURED).is_not_null() | (pl.col("outcome") == "timeout")
    loads = table.with_columns(
        excluded=pl.col("block").is_in(excluded), failed=failed, there=with_value
    )
    counterparts = {(each.network, each.comparison): each for each in gains_with_excluded}
    effects = []
    for gain in gains:
        here = loads.filter(network=gain.network)
        lost = here.filter("excluded")
        if not lost.height:
            continue
        of_pair = lost.filter(pl.col("stack").is_in([gain.stack, gain.reference]), "there")
        failures = dict(lost.filter("failed").group_by("stack").len().iter_rows())
        effects.append(
            ExclusionEffect(
                gain.network,
                gain.stack,
                gain.reference,
                gain.metric,
                blocks=here["block"].n_unique(),
                blocks_excluded=lost["block"].n_unique(),
                blocks_with_values=of_pair.filter(pl.len().over("block") == 2)["block"].n_unique(),
                failed=failures.get(gain.stack, 0),
                failed_reference=failures.get(gain.reference, 0),
                gain=gain,
                gain_with_excluded=counterparts[gain.network, gain.comparison],
            )
        )
    return effects
