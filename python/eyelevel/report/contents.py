"""Everything that a report says, computed from a run's directory alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from eyelevel.metrics import metrics_of
from eyelevel.report.metrics_shown import shown
from eyelevel.stats import (
    Blocks,
    Cell,
    NetworkGain,
    RateTest,
    compare_cells,
    compare_networks,
    rates_differ,
    select_blocks,
)
from eyelevel.store import (
    ENVIRONMENT_FILE,
    OUTCOMES_BY_NAME,
    PLAN_FILE,
    StoredTrial,
    StoreError,
    iterate_trials,
    read_document,
    trials_table,
)
from eyelevel.store.judgement import judge_all
from eyelevel.store.table import MetricsOf


@dataclass(frozen=True)
class Contents:
    """A run, read and compared.

    `table` has one row a trial of the plan with its judged outcome; `foreign` counts the records
    that the plan does not name, which are left out; `timeout_rates` and `failure_rates` test
    whether stacks differ in how often loads time out, and in how often the instrument fails.
    """

    plan: Mapping[str, Any]
    environment: Mapping[str, Any]
    trials: Mapping[str, StoredTrial]
    table: pl.DataFrame
    foreign: int
    metrics: tuple[str, ...]
    blocks: Blocks
    cells: tuple[Cell, ...]
    gains: tuple[NetworkGain, ...]
    timeout_rates: RateTest
    failure_rates: RateTest

    @property
    def arms(self) -> list[str]:
        """The stacks' names, the reference first."""
        names = [stack["name"] for stack in self.plan["stacks"]]
        reference = self.plan["reference"]
        return [reference, *(name for name in names if name != reference)]

    @property
    def networks(self) -> list[str]:
        """The networks' names in the plan's order."""
        return [network["name"] for network in self.plan["networks"]]

    @property
    def sites(self) -> list[str]:
        """The sites' names in the plan's order."""
        return [site["name"] for site in self.plan["sites"]]


def read_contents(directory: Path, metrics: MetricsOf = metrics_of) -> Contents:
    """Read and compare the run in `directory`; raises StoreError for a missing or damaged file."""
    plan = read_document(directory, PLAN_FILE)
    environment = _environment(directory)
    planned = {trial["hash"] for trial in plan["trials"]}
    found = list(iterate_trials(directory))
    trials = {each.path.name: each for each in found if each.path.name in planned}
    names = shown(plan["primary_metric"])
    judged = judge_all(each.record for each in trials.values())
    table = trials_table(trials.values(), metrics, names, judged)
    arms = [stack["name"] for stack in plan["stacks"]]
    sites = [site["name"] for site in plan["sites"]]
    blocks = select_blocks(table, arms)
    cells = compare_cells(blocks.kept, names, plan["reference"], arms)
    return Contents(
        plan=plan,
        environment=environment,
        trials=trials,
        table=table,
        foreign=len(found) - len(trials),
        metrics=tuple(names),
        blocks=blocks,
        cells=tuple(cells),
        gains=tuple(compare_networks(cells, plan["primary_metric"], sites)),
        timeout_rates=_rates(table, arms, "result"),
        failure_rates=_rates(table, arms, "instrument"),
    )


def _environment(directory: Path) -> Mapping[str, Any]:
    if not (directory / ENVIRONMENT_FILE).exists():
        raise StoreError(
            f"reading {directory}: it has no {ENVIRONMENT_FILE}, so what it ran on is unknown; "
            "give the directory that `eyelevel run` wrote"
        )
    return read_document(directory, ENVIRONMENT_FILE)


def _rates(table: pl.DataFrame, arms: list[str], fault: str) -> RateTest:
    names = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == fault]
    happened = table.with_columns(event=pl.col("outcome").is_in(names))
    rows = []
    for block in happened.partition_by("block", maintain_order=True):
        by_arm = dict(block.select("arm", "event").iter_rows())
        if len(by_arm) == len(arms):
            rows.append([by_arm[arm] for arm in arms])
    return rates_differ(rows)
