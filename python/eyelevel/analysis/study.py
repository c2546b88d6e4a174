"""Read and analyse a run: all results of a report, from the run's directory alone."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import polars as pl

from eyelevel.analysis.decisions import (
    blocks_until,
    find_figure_metric,
    horizon_of,
    judge_prefix,
    last_repetitions,
    make_decided_gains,
    post_hoc_comparisons,
    restrict_to_sites,
    up_to,
)
from eyelevel.analysis.gains.against_itself import AgainstItself, against_itself
from eyelevel.analysis.gains.causes import NetworkSplit, split_causes, without_twins
from eyelevel.analysis.gains.cells import (
    Cell,
    GainTests,
    NetworkGain,
    compare_cells,
    compare_networks,
    gain_tests,
    pools_of,
)
from eyelevel.analysis.gains.exclusions import (
    CensoredCell,
    ExclusionEffect,
    StepCells,
    analyse_censored_cells,
    compare_steps,
    exclusion_effects,
    restore_excluded,
)
from eyelevel.analysis.gains.level_distances import (
    LevelDistances,
    find_squares,
    level_distances,
)
from eyelevel.analysis.gains.machines import (
    BetweenMachines,
    MachineRow,
    between_machines,
    machine_rows,
)
from eyelevel.analysis.gains.margins import with_margins
from eyelevel.analysis.gains.site_tests import (
    Drift,
    NetworkModel,
    SiteTests,
    drift_of,
    models_over_sites,
    site_tests,
)
from eyelevel.analysis.metrics.catalogue import measure
from eyelevel.analysis.report_metrics import (
    TESTED_MAX,
    report_metrics,
    select_cells,
    select_timed_out,
    without_absent,
)
from eyelevel.analysis.run_files import (
    list_planned_hashes,
    read_environment,
    read_facts,
    read_stopped,
    read_stored_plan,
)
from eyelevel.analysis.stats.estimate import undetermined
from eyelevel.analysis.stats.hypothesis import RateTest
from eyelevel.analysis.time_parts import (
    FIRST_PAINT,
    LARGEST_PAINT,
    SPEED_INDEX,
    Divided,
    NetworkParts,
    Stops,
    VisiblePart,
    compare_parts,
    visible_parts,
)
from eyelevel.analysis.trials.alt_svc import lacks_alt_svc
from eyelevel.analysis.trials.blocks import Blocks, select_blocks, without_networks
from eyelevel.analysis.trials.facts import Measure, event_rates
from eyelevel.analysis.trials.run_environments import (
    RunEnvironment,
    environment_of,
    run_environments,
)
from eyelevel.analysis.trials.starvation import find_withheld
from eyelevel.analysis.trials.user_timings import timings_of
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.comparisons import Comparison, references_first
from eyelevel.plan.networks.network import Network
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import Recording, StoredPlan
from eyelevel.store.directory import StoredTrial, read_trial
from eyelevel.store.machines import read_machines


@dataclass(frozen=True)
class StudyResults:
    """The results of a run, read and compared.

    `table` has one row per trial of the plan with its judged outcome; `foreign` counts records that
    the plan does not name, which are left out; `timeout_rates` and `failure_rates` test whether
    stacks differ in how often loads time out, and in how often the instrument fails.
    """

    directory: Path
    plan: Plan
    """The plan with the comparisons and sites that are read, without counterfactual twins."""
    plan_hash: str
    recordings: tuple[Recording, ...]
    """The recordings of the plan's sites, in their order."""
    trials_planned: int
    """The number of loads in the plan, without those after a network's early end."""
    blocks_planned: int
    """The number of blocks in the plan, without those after a network's early end."""
    environment: JsonMapping
    """The joint environment of the machines that made loads
    (`eyelevel.analysis.trials.run_environments`)."""
    table: pl.DataFrame
    foreign: int
    metrics: tuple[str, ...]
    blocks: Blocks
    cells: tuple[Cell, ...]
    gains: tuple[NetworkGain, ...]
    timeout_rates: RateTest
    failure_rates: RateTest
    stopped: JsonMapping | None = None
    """The content of `stop.json`, if a comparison was decided before all blocks were loaded."""
    splits: tuple[NetworkSplit, ...] = ()
    """The parts of differences by counterfactuals, which no other field includes."""
    steps: tuple[StepCells, ...] = ()
    """The comparisons of each step after the load."""
    unfinished: str = ""
    """The progress of an incomplete run, which has no verdict; empty if it is complete."""
    declared: tuple[Comparison, ...] = ()
    """The plan's comparisons, if those compared here were chosen post hoc."""
    drawn: str = ""
    """The metric that maps and curves use instead of the primary one; empty: the primary one."""
    run_environments: tuple[RunEnvironment, ...] = ()
    """The environments of the machines that made loads, one by one."""
    machine_documents: Mapping[str, JsonMapping] = field(default_factory=dict)
    """The documents of a cluster's machines, by ID."""
    sites_chosen: bool = False
    """Whether the sites are a post-hoc selection of the plan's, so that there are no verdicts."""
    too_disturbed: Mapping[str, str] = field(default_factory=dict)
    """Reasons why a disturbed machine leaves a network without an answer, by network."""

    def trial(self, name: str) -> StoredTrial:
        """Return the record of a trial by its hash."""
        return read_trial(self.directory, name)

    @cached_property
    def gain_tests(self) -> tuple[GainTests, ...]:
        """The p values of `gains`, in their order."""
        primary = self.primary_metric if self.may_stop else None
        effect = self.smallest_effect
        return tuple(gain_tests(self.gains, effect, primary))

    @cached_property
    def against_itself(self) -> tuple[AgainstItself, ...]:
        """Return what the comparisons of variants find of a variant against itself."""
        scope = self.comparisons, self.networks, self.sites
        return tuple(against_itself(self.blocks.kept, self.primary_metric, *scope))

    @cached_property
    def site_tests(self) -> tuple[SiteTests, ...]:
        """The further tests of the comparisons on the page, at most TESTED_MAX."""
        several = [cell for cell in self.cells if cell.pairs > 1]
        chosen = select_cells(several, self.primary_metric, TESTED_MAX, TESTED_MAX)
        return tuple(site_tests(self.blocks.kept, chosen, self.comparisons))

    @cached_property
    def exclusions(self) -> tuple[ExclusionEffect, ...]:
        """The effects of excluded loads on the primary gains; empty if none was excluded."""
        if not any(block.failed for block in self.blocks.excluded):
            return ()
        metric = self.primary_metric
        every = restore_excluded(self.table, metric)
        gains = [gain for gain in self.gains if gain.metric == metric]
        cells = compare_cells(every, [metric], self.comparisons)
        planned = [(gain.network, gain.stack, gain.reference, metric) for gain in gains]
        pools = {} if self.may_stop else pools_of(every, [metric], self.sites)
        others = compare_networks(cells, metric, self.sites, planned, pools)
        if self.may_stop:
            others = make_decided_gains(
                others, self.plan, self.sites, self.stopped, lambda last: up_to(every, last)
            )
        return tuple(exclusion_effects(self.table, gains, others))

    @cached_property
    def censored(self) -> tuple[CensoredCell, ...]:
        """The comparisons with timed-out loads, analysed as censored; at most TESTED_MAX."""
        several = [cell for cell in self.cells if cell.pairs > 1 and math.isfinite(cell.limit)]
        chosen = select_timed_out(several, self.primary_metric, TESTED_MAX)
        return tuple(analyse_censored_cells(chosen))

    @cached_property
    def paints(self) -> tuple[NetworkParts, ...]:
        """Largest Contentful Paint, divided into its parts, by network and comparison."""
        return self._divide(LARGEST_PAINT)

    @cached_property
    def speeds(self) -> tuple[NetworkParts, ...]:
        """Speed Index, divided into waits, by network and comparison."""
        return self._divide(SPEED_INDEX)

    @cached_property
    def first_paints(self) -> tuple[NetworkParts, ...]:
        """The first paint, divided into waits, by network and comparison."""
        return self._divide(FIRST_PAINT)

    @cached_property
    def level_distances(self) -> tuple[LevelDistances, ...]:
        """The distances of a server's stacks from level ones; empty if the plan has no such."""
        squares = list(find_squares(self.comparisons))
        horizon = horizon_of(self.plan) if self.may_stop else None
        kept = self.blocks.kept
        found = level_distances(kept, self.primary_metric, squares, self.networks, horizon)
        return tuple(found)

    @cached_property
    def without_alt_svc(self) -> tuple[str, ...]:
        """The external stacks over HTTP/3 whose documents have no Alt-Svc field."""
        lacking = []
        for stack in self.plan.stacks:
            if stack.is_ours or not stack.over_quic:
                continue
            hashes = self.blocks.kept.filter(stack=stack.name)["hash"]
            if len(hashes) and lacks_alt_svc(self.trial(hashes[0])):
                lacking.append(stack.name)
        return tuple(lacking)

    def visible_parts(self, network: str, comparison: Comparison) -> list[VisiblePart]:
        """Return the largest visible part of the sites in which it moved most."""
        return visible_parts(self.blocks.kept, network, comparison, self._stops)

    def _divide(self, divided: Divided) -> tuple[NetworkParts, ...]:
        scope = self.comparisons, self.networks
        found = compare_parts(self.blocks.kept, divided, *scope, self._stops)
        return tuple(
            found
            if self.may_stop
            else [self._with_error_of_gain(each, divided.whole) for each in found]
        )

    def _with_error_of_gain(self, parts: NetworkParts, metric: str) -> NetworkParts:
        """Return the parts of a time, its difference replaced by that of the same gain in `gains`.

        If blocks lack a part, the two are of different loads, and nothing is replaced.
        """
        of = (parts.network, parts.comparison, metric)
        for gain in self.gains:
            if (gain.network, gain.comparison, gain.metric) == of and not parts.blocks_without:
                return replace(parts, whole=replace(parts.whole, difference=gain.difference))
        return parts

    @cached_property
    def _stops(self) -> Stops | None:
        if not self.may_stop:
            return None
        return Stops(horizon_of(self.plan), last_repetitions(self.stopped))

    @property
    def limit_s(self) -> float:
        """The time limit of a load, in s."""
        return self.plan.browser.limit_s

    @property
    def primary_metric(self) -> str:
        """The primary metric of the plan."""
        return self.plan.primary_metric

    @property
    def drawn_metric(self) -> str:
        """The metric of maps and curves; only the primary one has verdicts."""
        return self.drawn or self.primary_metric

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The plan's comparisons in order; the first is the headline's."""
        return self.plan.comparisons

    @property
    def smallest_effect(self) -> float:
        """The smallest effect of interest, as a share."""
        return self.plan.smallest_effect_of_interest

    @property
    def may_stop(self) -> bool:
        """Whether the study may stop before its last block."""
        return self.plan.stop is not None

    @property
    def limit_ms(self) -> float:
        """The time limit of a load in ms, the unit of metrics."""
        return 1000 * self.limit_s

    def network(self, name: str) -> Network:
        """Return a network of the plan by name."""
        return next(network for network in self.plan.networks if network.name == name)

    @cached_property
    def sites_models(self) -> tuple[NetworkModel, ...]:
        """The primary metric's gains expected on other sites; empty with fewer than five sites."""
        models = models_over_sites(
            self.cells,
            self.primary_metric,
            self.comparisons,
            self.networks,
            self.sites,
        )
        return tuple(models)

    @cached_property
    def machines(self) -> tuple[MachineRow, ...]:
        """The loads of each machine; empty if there is only one."""
        return machine_rows(self.table, self.machine_documents)

    @cached_property
    def between_machines(self) -> tuple[BetweenMachines, ...]:
        """Return how gains of the primary metric depend on the machine; empty for one machine."""
        return between_machines(
            self.blocks.kept, self.cells, self.primary_metric, self.comparisons, self.networks
        )

    @cached_property
    def drift(self) -> Drift | None:
        """The drift of the primary metric's differences; None if nothing is compared."""
        return drift_of(self.cells, self.primary_metric, self.comparisons)

    @property
    def stacks(self) -> list[str]:
        """The names of the stacks, references first."""
        return references_first(self.comparisons, [stack.name for stack in self.plan.stacks])

    @property
    def networks(self) -> list[str]:
        """The names of the networks in the plan's order."""
        return [network.name for network in self.plan.networks]

    @property
    def sites(self) -> list[str]:
        """The names of the sites in the plan's order."""
        return list(self.plan.sites)


def _without_early_ends(stored: StoredPlan, ends: Mapping[str, int]) -> StoredPlan:
    """Return the plan without the trials after early ends, which would count as missing.

    `ends`: the last repetition of each network that ended early.
    """
    trials = tuple(
        trial
        for trial in stored.trials
        if trial.repetition <= ends.get(trial.network, trial.repetition)
    )
    return replace(stored, trials=trials)


def _select_planned(facts: pl.DataFrame, stored: StoredPlan) -> pl.DataFrame:
    """Return the facts of the plan's trials."""
    return facts.join(list_planned_hashes(stored), on="hash", how="semi", maintain_order="left")


def read_results(
    directory: Path,
    measured_by: Measure = measure,
    processes: int = 1,
    against: str | None = None,
    pairs: Sequence[str] = (),
    metric: str = "",
    sites: Sequence[str] = (),
) -> StudyResults:
    """Read and analyse the run in `directory`.

    `processes`: how many read records at once (`eyelevel.analysis.trials.table.trials_table`).
    `against`: the stack that every other one is compared with, instead of the plan's comparisons.
    `pairs`: the only comparisons, STACK/REFERENCE each. `metric`: a time that maps and curves use
    instead of the primary metric. `sites`: the only sites that count; empty: all.

    Raises StoreError for a missing or damaged file, PlanError for a plan of another version or for
    a choice that the plan does not allow.
    """
    stored = read_stored_plan(directory)
    plan, declared = post_hoc_comparisons(stored.plan, against, pairs)
    stored = replace(stored, plan=plan)
    metric = find_figure_metric(metric)
    own = read_environment(directory)
    every, facts = read_facts(directory, stored, measured_by, processes)
    found = facts.height
    if sites:
        stored = restrict_to_sites(stored, sites)
        facts = _select_planned(facts, stored)
    stopped = read_stopped(directory)
    if stopped:
        stored = _without_early_ends(stored, stopped["networks"])
        facts = _select_planned(facts, stored)
    whole_plan = plan = stored.plan
    table = judge_prefix(facts, plan.primary_metric)
    names = report_metrics(plan.primary_metric, metric, timings_of(table))
    stacks = [stack.name for stack in plan.stacks]
    blocks = select_blocks(table, stacks)
    withheld = find_withheld(table, blocks.kept)
    # In the plan's order: the table's is that of random blocks.
    too_disturbed = {
        network.name: withheld[network.name]
        for network in plan.networks
        if network.name in withheld
    }
    blocks = without_networks(blocks, too_disturbed)
    documents = read_machines(directory)
    machines = run_environments(own, documents, table)
    of_all = f"{table.height} of {len(stored.trials)} loads are there"
    unfinished = of_all if table.height < len(stored.trials) else ""
    splits = split_causes(blocks.kept, plan)
    stored, table, blocks = without_twins(stored, table, blocks)
    plan = stored.plan
    stacks = [stack.name for stack in plan.stacks]
    names = without_absent(names, plan.primary_metric, blocks.kept)
    cells = compare_cells(blocks.kept, names, plan.comparisons)
    planned = [
        (network.name, comparison.stack, comparison.reference, metric)
        for network, comparison, metric in product(plan.networks, plan.comparisons, names)
    ]
    pools = {} if plan.stop else pools_of(blocks.kept, names, plan.sites)
    gains = compare_networks(cells, plan.primary_metric, plan.sites, planned, pools)
    least_ms = plan.smallest_effect_of_interest_ms
    gains = with_margins(gains, blocks.kept, plan.primary_metric, least_ms)
    if plan.stop:
        ends = stopped["networks"] if stopped else {}
        gains = make_decided_gains(
            gains,
            whole_plan,
            plan.sites,
            stopped,
            lambda last: blocks_until(facts, whole_plan, last, ends).kept,
        )
    gains = [_withhold_if_disturbed(gain, too_disturbed) for gain in gains]
    return StudyResults(
        directory=directory,
        plan=plan,
        plan_hash=stored.hash,
        recordings=stored.recordings,
        trials_planned=len(stored.trials),
        blocks_planned=len({trial.block for trial in stored.trials}),
        environment=environment_of(own, machines),
        run_environments=machines,
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
        timeout_rates=event_rates(table, stacks, "result"),
        failure_rates=event_rates(table, stacks, "instrument"),
        declared=declared,
        drawn=metric,
        machine_documents=documents,
        sites_chosen=bool(sites),
        too_disturbed=too_disturbed,
    )


def _withhold_if_disturbed(gain: NetworkGain, reasons: Mapping[str, str]) -> NetworkGain:
    """Return the gain, or an undetermined one if `reasons` has its network."""
    if (reason := reasons.get(gain.network)) is None:
        return gain
    of = (gain.network, gain.stack, gain.reference, gain.metric)
    return NetworkGain(*of, undetermined(reason), family=gain.family)
