"""Everything that a report says, computed from a run's directory alone."""

import hashlib
import math
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path

import polars as pl

from eyelevel.analysis.gains.causes import NetworkSplit, split_causes, without_twins
from eyelevel.analysis.gains.cells import Cell, NetworkGain, compare_cells, compare_networks
from eyelevel.analysis.gains.exclusions import (
    EXCLUDING,
    MEASURED,
    ExclusionEffect,
    exclusion_effects,
    with_excluded,
)
from eyelevel.analysis.gains.other_sites import NetworkModel, models_over_sites
from eyelevel.analysis.gains.p_values import MAY_STOP, GainTests, gain_tests
from eyelevel.analysis.gains.sequential import sequential_gains
from eyelevel.analysis.gains.site_tests import SiteTests, site_tests
from eyelevel.analysis.gains.steps import StepCells, compare_steps
from eyelevel.analysis.gains.timeouts import CensoredCell, censored_cells
from eyelevel.analysis.shown import TESTED_MAX, cells_shown, shown, timed_out_shown
from eyelevel.analysis.trials.blocks import Blocks, select_blocks
from eyelevel.analysis.trials.judgement import judge_table
from eyelevel.analysis.trials.table import Columns, MetricsOf, trials_table
from eyelevel.errors import PlanError, StoreError
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.metrics.catalogue import METRICS_BY_NAME
from eyelevel.metrics.compute import metrics_of
from eyelevel.networks.network import Network
from eyelevel.plan.comparisons import Comparison, references_first
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import plan_of_document
from eyelevel.stats.estimate import undetermined
from eyelevel.stats.hypothesis.cochran_q import RateTest, rates_differ
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    PLAN_FILE,
    STOP_FILE,
    StoredTrial,
    read_document,
    read_trial,
)
from eyelevel.store.outcomes import OUTCOMES_BY_NAME


@dataclass(frozen=True)
class Contents:
    """A run, read and compared.

    `table` has one row a trial of the plan with its judged outcome; `foreign` counts the records
    that the plan does not name, which are left out; `timeout_rates` and `failure_rates` test
    whether stacks differ in how often loads time out, and in how often the instrument fails.
    """

    directory: Path
    plan: JsonMapping
    environment: JsonMapping
    table: pl.DataFrame
    foreign: int
    metrics: tuple[str, ...]
    blocks: Blocks
    cells: tuple[Cell, ...]
    gains: tuple[NetworkGain, ...]
    timeout_rates: RateTest
    failure_rates: RateTest
    stopped: JsonMapping | None = None
    """`stop.json` of a study that stopped before all its blocks."""
    splits: tuple[NetworkSplit, ...] = ()
    """What the counterfactuals say; they are in no other field."""
    steps: tuple[StepCells, ...] = ()
    """Each step after the load, by stack."""
    unfinished: str = ""
    """How far a run is that was broken off or goes on, which has no verdict."""

    def trial(self, name: str) -> StoredTrial:
        """The record of one trial by its hash."""
        return read_trial(self.directory, name)

    @cached_property
    def gain_tests(self) -> tuple[GainTests, ...]:
        """The p values of `gains`, in their order."""
        primary = self.primary_metric if self.may_stop else None
        effect = self.smallest_effect
        return tuple(gain_tests(self.gains, effect, primary))

    @cached_property
    def site_tests(self) -> tuple[SiteTests, ...]:
        """The further tests of the comparisons that the page shows, `TESTED_MAX` at most."""
        several = [cell for cell in self.cells if cell.pairs > 1]
        chosen = cells_shown(several, self.primary_metric, TESTED_MAX, TESTED_MAX)
        return tuple(site_tests(self.blocks.kept, chosen, self.comparisons))

    @cached_property
    def exclusions(self) -> tuple[ExclusionEffect, ...]:
        """What excluded blocks would do to the primary gains; empty where a load excludes none."""
        if not self.table["outcome"].is_in(EXCLUDING).any():
            return ()
        metric = self.primary_metric
        every = with_excluded(self.table, metric, self.stacks)
        gains = [gain for gain in self.gains if gain.metric == metric]
        cells = compare_cells(every, [metric], self.comparisons)
        planned = [(gain.network, gain.stack, gain.reference, metric) for gain in gains]
        others = compare_networks(cells, metric, self.sites, planned)
        if self.may_stop:
            others = _sequential(others, self.plan, every)
        return tuple(exclusion_effects(self.table, gains, others))

    @cached_property
    def censored(self) -> tuple[CensoredCell, ...]:
        """What can be said where loads timed out, `TESTED_MAX` comparisons at most."""
        several = [cell for cell in self.cells if cell.pairs > 1 and math.isfinite(cell.limit)]
        chosen = timed_out_shown(several, self.primary_metric, TESTED_MAX)
        return tuple(censored_cells(chosen))

    @cached_property
    def planned(self) -> Plan:
        """The plan with its settings as they are typed; its sites by their names."""
        return plan_of_document(self.plan)

    @property
    def limit_s(self) -> float:
        """After how long a load times out."""
        return self.planned.browser.limit_s

    @property
    def primary_metric(self) -> str:
        """The metric that the plan declared."""
        return str(self.plan["primary_metric"])

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What the plan asks, in its order: the first is the headline's."""
        return comparisons_of(self.plan)

    @property
    def smallest_effect(self) -> float:
        """The smallest effect of interest, as a share."""
        return float(self.plan["smallest_effect_of_interest"])

    @property
    def may_stop(self) -> bool:
        """Whether the study may stop when it has seen enough."""
        return bool(self.plan.get("stop"))

    @property
    def trials_planned(self) -> int:
        """How many loads the plan has; of a study that stopped, until then."""
        return len(self.plan["trials"])

    @property
    def blocks_planned(self) -> int:
        """How many blocks these are."""
        return len({trial["block"] for trial in self.plan["trials"]})

    @property
    def limit_ms(self) -> float:
        """The same in milliseconds, as metrics have it."""
        return 1000 * self.limit_s

    def network(self, name: str) -> Network:
        """Of the plan's."""
        return next(network for network in self.planned.networks if network.name == name)

    @cached_property
    def sites_models(self) -> tuple[NetworkModel, ...]:
        """What the primary metric's gains would be on other sites; empty below five sites."""
        models = models_over_sites(
            self.cells,
            self.primary_metric,
            self.comparisons,
            self.networks,
            self.sites,
        )
        return tuple(models)

    @property
    def stacks(self) -> list[str]:
        """The stacks' names, those first that others are held against."""
        return references_first(self.comparisons, [stack["name"] for stack in self.plan["stacks"]])

    @property
    def networks(self) -> list[str]:
        """The networks' names in the plan's order."""
        return [network["name"] for network in self.plan["networks"]]

    @property
    def sites(self) -> list[str]:
        """The sites' names in the plan's order."""
        return [site["name"] for site in self.plan["sites"]]


def read_contents(directory: Path, metrics: MetricsOf = metrics_of, processes: int = 1) -> Contents:
    """Read and compare the run in `directory`.

    Raises StoreError for a missing or damaged file, PlanError for a plan of another eyelevel.

    `processes`: how many read records at once (`eyelevel.analysis.trials.table.trials_table`).
    """
    plan = read_plan_document(directory)
    environment = _environment(directory)
    stopped = read_document(directory, STOP_FILE) if (directory / STOP_FILE).exists() else None
    if stopped:  # what was not to be run any more is not missing
        last = stopped["repetition"]
        plan["trials"] = [trial for trial in plan["trials"] if trial["repetition"] <= last]
    every, table = read_table(directory, plan, metrics, processes)
    names = shown(plan["primary_metric"])
    stacks = [stack["name"] for stack in plan["stacks"]]
    sites = [site["name"] for site in plan["sites"]]
    found, blocks = table.height, select_blocks(table, stacks)
    of_all = f"{found} of {len(plan['trials'])} loads are there"
    unfinished = of_all if found < len(plan["trials"]) else ""
    splits: tuple[NetworkSplit, ...] = ()
    if plan.get("causes"):
        splits = split_causes(blocks.kept, plan)
        plan, table, blocks = without_twins(plan, table, blocks)
        stacks = [stack["name"] for stack in plan["stacks"]]
    comparisons = comparisons_of(plan)
    cells = compare_cells(blocks.kept, names, comparisons)
    networks = sorted(network["name"] for network in plan["networks"])
    planned = [
        (network, asked.stack, asked.reference, metric)
        for network, asked, metric in product(networks, comparisons, names)
    ]
    gains = compare_networks(cells, plan["primary_metric"], sites, planned)
    if plan.get("stop"):
        gains = _sequential(gains, plan, blocks.kept)
    return Contents(
        directory=directory,
        plan=plan,
        environment=environment,
        table=table,
        foreign=every - found,
        metrics=tuple(names),
        blocks=blocks,
        cells=tuple(cells),
        gains=tuple(gains),
        stopped=stopped,
        splits=splits,
        steps=compare_steps(directory, plan, blocks.kept),
        unfinished=unfinished,
        timeout_rates=_rates(table, stacks, "result"),
        failure_rates=_rates(table, stacks, "instrument"),
    )


def comparisons_of(plan: JsonMapping) -> tuple[Comparison, ...]:
    """What a `plan.json` asks."""
    return tuple(Comparison.read(asked) for asked in plan["comparisons"])


def read_plan_document(directory: Path) -> JsonObject:
    """A run's `plan.json`, as JSON has it, whose every setting is known here.

    Raises StoreError when it is absent or damaged, PlanError when another eyelevel wrote it.
    """
    document = read_document(directory, PLAN_FILE)
    metric = plan_of_document(document).primary_metric
    if metric not in METRICS_BY_NAME:
        raise PlanError([f"{directory / PLAN_FILE}: its metric `{metric}` is not known here"])
    return document


def read_table(
    directory: Path,
    plan: JsonMapping,
    metrics: MetricsOf = metrics_of,
    processes: int = 1,
) -> tuple[int, pl.DataFrame]:
    """How many records there are, and the table of the plan's trials with their judged outcomes.

    Only loads that count have metrics; the column MEASURED has the primary metric of every load
    that ended. The table is kept beside the records when its metrics are those of
    `eyelevel.metrics`. Raises StoreError for a damaged record.
    """
    version = code_version() if metrics is metrics_of else None
    names = tuple(METRICS_BY_NAME)
    every = trials_table(directory, Columns(names, metrics, version), processes)
    planned = pl.DataFrame({"hash": [trial["hash"] for trial in plan["trials"]]})
    table = judge_table(every.join(planned, on="hash", how="semi", maintain_order="left"))
    table = table.with_columns(pl.col(plan["primary_metric"]).alias(MEASURED))
    counts = pl.col("outcome") == "ok"
    table = table.with_columns(pl.when(counts).then(pl.col(name)).alias(name) for name in names)
    return every.height, table


@cache
def code_version() -> str:
    """A hash of the code that turns a record into a row; kept rows of other code are not used."""
    digest = hashlib.sha256()
    for package in ("eyelevel.analysis.trials", "eyelevel.metrics", "eyelevel.store"):
        for file in sorted(files(package).iterdir(), key=lambda file: file.name):
            if file.name.endswith(".py"):
                digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:20]


def _sequential(
    gains: list[NetworkGain], plan: JsonMapping, kept: pl.DataFrame
) -> list[NetworkGain]:
    """The primary gains of a study that may stop early, by intervals that allow it."""
    names = {key: [item["name"] for item in plan[key]] for key in ("networks", "sites")}
    sequential = sequential_gains(
        kept,
        plan["primary_metric"],
        comparisons_of(plan),
        names["networks"],
        names["sites"],
    )
    by_key = {(each.network, each.stack, each.reference, each.metric): each for each in sequential}
    return [
        _as_stopped(gain, by_key.get((gain.network, gain.stack, gain.reference, gain.metric)))
        for gain in gains
    ]


def _as_stopped(gain: NetworkGain, sequential: NetworkGain | None) -> NetworkGain:
    """What stands beside the gain keeps its value alone: its interval does not allow for looks."""
    if sequential is None:
        return gain
    median, difference = (
        undetermined(each.reason or MAY_STOP, each.n, each.value)
        for each in (gain.median, gain.difference)
    )
    slow = replace(gain.slow_loads, p=None) if gain.slow_loads else None
    late = replace(gain.timeouts, p=None) if gain.timeouts else None
    return replace(
        sequential, median=median, difference=difference, ratio_of_means=gain.ratio_of_means,
        slow_loads=slow, timeouts=late,
    )  # fmt: skip


def _environment(directory: Path) -> JsonMapping:
    if not (directory / ENVIRONMENT_FILE).exists():
        raise StoreError(
            f"reading {directory}: it has no {ENVIRONMENT_FILE}, so what it ran on is unknown; "
            "give the directory that `eyelevel run` wrote"
        )
    return read_document(directory, ENVIRONMENT_FILE)


def _rates(table: pl.DataFrame, stacks: list[str], fault: str) -> RateTest:
    names = [name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == fault]
    # A failure that a further attempt mended has happened all the same.
    again = (pl.col("retried") > 0) if fault == "instrument" else pl.lit(False)
    happened = (
        table.with_columns(event=pl.col("outcome").is_in(names) | again)
        .group_by("block", maintain_order=True)
        .agg(pl.col("stack"), pl.col("event"))
    )
    rows = []
    for names_seen, events in happened.select("stack", "event").iter_rows():
        by_stack = dict(zip(names_seen, events, strict=True))
        if len(by_stack) == len(stacks):
            rows.append([by_stack[stack] for stack in stacks])
    return rates_differ(rows)
