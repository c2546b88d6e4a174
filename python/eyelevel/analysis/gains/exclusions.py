"""The effect of exclusions: each primary gain with and without the excluded pairs.

Whether a load is excluded depends on how it went, so that exclusions may remove the very effect
that is measured. A load that failed a rule but ended has a value all the same: the gain is computed
again with it, and the change shows how much depends on the rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.plan.comparisons import Compared
from eyelevel.store.outcomes import CENSORED, OUTCOMES_BY_NAME

MEASURED = "primary_measured"
"""The column of the primary metric's value whatever the outcome; null for loads that did not
end."""

EXCLUDING = tuple(name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.excludes_load)


@dataclass(frozen=True)
class ExclusionEffect(Compared):
    """One comparison's gain over the compared pairs, and over all pairs with values.

    Of a network's `blocks`, a load of the two stacks failed in `blocks_excluded`; in
    `blocks_with_values` of these both loads have values all the same. `failed` and
    `failed_reference` count the failed loads.
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
        """The distance between the two gains, as a share; 0 if one of them is undetermined."""
        before, after = self.gain.gain.value, self.gain_with_excluded.gain.value
        return 0.0 if before is None or after is None else abs(after - before)


def restore_excluded(table: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Return the trials with failed loads counted as `ok` and `metric` as it was measured.

    Blocks on several machines remain left out. `table` is the study's
    (`eyelevel.analysis.run_files.read_table`).
    """
    late = pl.col("outcome").is_in(CENSORED)
    on_one_machine = pl.col("machine").n_unique().over("block") == 1
    return table.filter(on_one_machine).with_columns(
        pl.col(MEASURED).alias(metric),
        outcome=pl.when(late).then("outcome").otherwise(pl.lit("ok")),
    )


def exclusion_effects(
    table: pl.DataFrame,
    gains: Sequence[NetworkGain],
    gains_with_excluded: Sequence[NetworkGain],
) -> list[ExclusionEffect]:
    """Return one effect per gain with failed loads, in the order of `gains`."""
    failed = pl.col("outcome").is_in(EXCLUDING)
    with_value = pl.col(MEASURED).is_not_null() | pl.col("outcome").is_in(CENSORED)
    loads = table.with_columns(failed=failed, there=with_value)
    counterparts = {(each.network, each.comparison): each for each in gains_with_excluded}
    effects = []
    for gain in gains:
        of_network = loads.filter(network=gain.network)
        own = of_network.filter(pl.col("stack").is_in([gain.stack, gain.reference]))
        lost = own.filter(pl.col("failed").any().over("block"))
        if not lost.height:
            continue
        failures = dict(lost.filter("failed").group_by("stack").len().iter_rows())
        valued = lost.filter("there").filter(pl.len().over("block") == 2)
        effects.append(
            ExclusionEffect(
                gain.network,
                gain.stack,
                gain.reference,
                gain.metric,
                blocks=of_network["block"].n_unique(),
                blocks_excluded=lost["block"].n_unique(),
                blocks_with_values=valued["block"].n_unique(),
                failed=failures.get(gain.stack, 0),
                failed_reference=failures.get(gain.reference, 0),
                gain=gain,
                gain_with_excluded=counterparts[gain.network, gain.comparison],
            )
        )
    return effects
