"""The effect of exclusions: each primary gain with and without the excluded pairs.

Whether a load is excluded depends on how it went, so that exclusions may remove the very effect
that is measured. A load that failed a rule but ended has a value all the same: the gain is computed
again with it, and the change shows how much depends on the rules.

Comparisons with timeouts, analysed as censored at the limit, site by site. Steps after the load,
compared as loads are: in pairs of the same blocks, step by step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelevel.analysis.gains.cells import Cell, NetworkGain, compare_cells
from eyelevel.analysis.metrics.steps import STEP_METRICS, step_metrics
from eyelevel.analysis.stats.censoring import log_rank, restricted_mean_difference
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.hypothesis import DifferenceTest
from eyelevel.plan.comparisons import Compared
from eyelevel.plan.plan import Plan
from eyelevel.store.directory import read_trial
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


@dataclass(frozen=True)
class CensoredCell:
    """A comparison with timeouts: the difference of mean times up to the limit, in ms, and a test.

    Neither is corrected for the number of comparisons.
    """

    cell: Cell
    restricted_mean_difference: Estimate
    log_rank: DifferenceTest


def analyse_censored_cells(cells: Sequence[Cell]) -> list[CensoredCell]:
    """Analyse each of `cells` as censored, in their order."""
    censored = []
    for cell in cells:
        _, x, r = cell.loads
        difference = restricted_mean_difference(x, r, cell.limit)
        censored.append(CensoredCell(cell, difference, log_rank(x, r, cell.limit)))
    return censored


_KEYS = ("network", "site", "stack", "repetition", "block", "limit_ms", "outcome")


@dataclass(frozen=True)
class StepCells:
    """One step of the plan, and its comparisons by site, network and metric."""

    text: str
    cells: tuple[Cell, ...]


def compare_steps(directory: Path, plan: Plan, kept: pl.DataFrame) -> tuple[StepCells, ...]:
    """Return the comparisons of every step over the kept blocks; timed-out loads have no steps.

    Raises StoreError for a damaged record.
    """
    texts = plan.browser.after_load
    if not texts:
        return ()
    schema: dict[str, type[pl.DataType]] = dict.fromkeys(_KEYS, pl.String)
    schema |= {"repetition": pl.Int64, "limit_ms": pl.Float64} | dict.fromkeys(
        STEP_METRICS, pl.Float64
    )
    rows: list[list[tuple[object, ...]]] = [[] for _ in texts]
    for name, *keys in kept.select("hash", *_KEYS).iter_rows():
        trial = read_trial(directory, name)
        steps = trial.record.get("after_load", ()) if keys[-1] == "ok" else ()
        measured: list[dict[str, float | None]] = [
            step_metrics(step, ((frame.at_ms, frame.picture) for frame in frames))
            for step, frames in zip(steps, trial.step_frames(), strict=False)
        ]
        measured += [dict.fromkeys(STEP_METRICS)] * (len(texts) - len(measured))
        for step_rows, values in zip(rows, measured, strict=True):
            # The load itself ended: a missing value is absent here, not censored at a limit.
            step_rows.append((*keys[:-1], "ok", *values.values()))
    compared = []
    for text, step_rows in zip(texts, rows, strict=True):
        table = pl.DataFrame(step_rows, schema=schema, orient="row")
        cells = compare_cells(table, tuple(STEP_METRICS), plan.comparisons)
        compared.append(StepCells(text, tuple(cells)))
    return tuple(compared)
