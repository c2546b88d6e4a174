"""The decisions of a study that may stop early, and the repetitions after which they were made.

Its interim analyses and its final answer are one sequence: each analysis reads a closed prefix of
the records, every block up to a repetition, judged by these records alone, and its decisions are
final. So the records alone determine when the study stops and what it reports, whatever the pace of
the loads, the number of runs and the times of analysis. Only a budget of time can end it earlier.

The primary gains of a study that may stop early, each as of its own last interim analysis.

Choose the comparisons of a run: those of its plan, or others, chosen post hoc.

The sites of a report and the metric of its figures can be chosen here, too.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import product

import polars as pl

from eyelevel.analysis.gains.cells import NetworkGain, compare_cells, network_gains, value_alone
from eyelevel.analysis.gains.exclusions import MEASURED
from eyelevel.analysis.gains.margins import with_margins
from eyelevel.analysis.gains.sequential import (
    GAINS_LEVEL,
    ComparisonState,
    comparison_states,
    sequential_gains,
)
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, PRIMARY_METRICS
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.stats.stopping_rule import Rule, State, interim_repetitions
from eyelevel.analysis.trials.blocks import COMPARED_BY, Blocks, select_blocks, without_networks
from eyelevel.analysis.trials.post_hoc_exclusions import JUDGED_BY, judge_table
from eyelevel.analysis.trials.starvation import find_withheld
from eyelevel.analysis.trials.user_timings import timings_of
from eyelevel.base.errors import PlanError, unknown
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison, against_one
from eyelevel.plan.plan import Plan, StopRule
from eyelevel.plan.plan_json import StoredPlan
from eyelevel.plan.user_timings import full_name, with_short_names

Key = tuple[str, Comparison]  # network, comparison

STOP_VERSION = 3
FIRST_LOOK = StopRule.blocks_min
LOST_MAX = 0.2
"""The share of a short study's blocks that may be lost before it has no interval at its end."""
NAMED_MAX = 3  # comparisons with the same decision; more are counted
_PHRASES: dict[State, str] = {
    "clear sign": "a clear sign",
    "clear sign, less than matters": "a clear sign of a difference that is too small to matter",
    "no difference that matters": "no difference that matters",
    "futile": "not decidable within the planned blocks",
    "loads unfinished": "one stack leaves more loads unfinished",
}


def list_compared_networks(plan: Plan) -> list[str]:
    """Return the names of the networks that are compared: all except counterfactuals."""
    twins = plan.causes.networks.values() if plan.causes else ()
    return [network.name for network in plan.networks if network.name not in twins]


def horizon_of(plan: Plan) -> Horizon:
    """Return the interim analyses of a plan that may stop early, or of a run with `--peek`."""
    first = plan.stop.blocks_min if plan.stop else FIRST_LOOK
    return Horizon(min(first, math.floor((1 - LOST_MAX) * plan.blocks)), plan.blocks)


def rule_of(plan: Plan) -> Rule:
    """Return the rule that decides a plan's comparisons, each with its share of the level."""
    assert plan.stop is not None
    family = max(1, len(plan.comparisons) * len(list_compared_networks(plan)))
    return Rule(
        smallest_effect=plan.smallest_effect_of_interest,
        significance_level=GAINS_LEVEL / family,
        horizon=horizon_of(plan),
        futility=plan.stop.futility,
    )


def judge_prefix(facts: pl.DataFrame, primary_metric: str) -> pl.DataFrame:
    """Return the facts with judged outcomes, and with metrics only for the loads that count.

    The column MEASURED has the primary metric of every load that ended.
    """
    table = judge_table(facts).with_columns(pl.col(primary_metric).alias(MEASURED))
    counts = pl.col("outcome") == "ok"
    return table.with_columns(
        pl.when(counts).then(pl.col(name)).alias(name)
        for name in (*METRICS_BY_NAME, *timings_of(facts))
        if name in facts.columns
    )


def up_to(
    table: pl.DataFrame, repetition: int, ends: Mapping[str, int] | None = None
) -> pl.DataFrame:
    """Return the trials up to a repetition, and up to its end for each network in `ends`."""
    prefix = table.filter(pl.col("repetition") <= repetition)
    for network, end in (ends or {}).items():
        prefix = prefix.filter((pl.col("network") != network) | (pl.col("repetition") <= end))
    return prefix


def blocks_until(
    facts: pl.DataFrame, plan: Plan, repetition: int, ends: Mapping[str, int]
) -> Blocks:
    """Return the blocks of the closed prefix up to a repetition, judged by that prefix alone.

    `facts`: all trials as recorded, later ones included. Loads after a network's end (`ends`) are
    not part of the study. Only columns that matter here are read: a study has tens of interim
    analyses.
    """
    needed = {*COMPARED_BY, *JUDGED_BY, plan.primary_metric}
    facts = facts.select(name for name in facts.columns if name in needed)
    table = judge_prefix(up_to(facts, repetition, ends), plan.primary_metric)
    blocks = select_blocks(table, [stack.name for stack in plan.stacks])
    return without_networks(blocks, find_withheld(table, blocks.kept))


class Decisions:
    """The decisions of a study's interim analyses so far; `analyse` makes them in order."""

    def __init__(self, plan: Plan, sites: Collection[str]) -> None:
        assert plan.stop is not None
        self._plan, self._sites, self._rule = plan, sites, rule_of(plan)
        self._networks = list_compared_networks(plan)
        self._due = interim_repetitions(plan.stop.blocks_min, plan.blocks)
        self._states: dict[Key, ComparisonState] = {}
        self._last: int | None = None

    def due(self, repetition: int) -> bool:
        """Return whether an interim analysis is due once this repetition is done."""
        return bool(self._due) and self._due[0] <= repetition and not self.ended

    def analyse(self, repetition: int, facts: pl.DataFrame) -> None:
        """Make every interim analysis up to this repetition that is due, each on its own prefix.

        `facts`: the plan's trials as they were recorded; those up to the repetition are complete.
        """
        while self.due(repetition):
            at = self._due.pop(0)
            kept = blocks_until(facts, self._plan, at, self.ends).kept
            for state in self._states_of(kept, at):
                if (key := (state.network, state.comparison)) not in self._decided:
                    self._states[key] = state

    def run_out_of_time(self, repetition: int) -> None:
        """End all loads after this repetition, whatever is open: the intervals hold at any end."""
        self._last = repetition

    @property
    def ended(self) -> bool:
        """Whether no loads are left: all comparisons are decided, or the time is over."""
        if self._last is not None:
            return True
        return len(self._decided) == len(self._networks) * len(self._plan.comparisons)

    @property
    def ends(self) -> dict[str, int]:
        """The repetition after which each network's loads end: all its comparisons are decided, or
        the time is over.

        A counterfactual network ends with its twin. Networks that go on are absent.
        """
        ends: dict[str, int] = {}
        for network in self._networks:
            states = [state for state in self._states.values() if state.network == network]
            since = [state.repetition for state in states if state.repetition is not None]
            if since and len(since) == len(self._plan.comparisons):
                ends[network] = max(since)
            elif self._last is not None:
                ends[network] = self._last
        if self._plan.causes:
            twins = self._plan.causes.networks
            ends |= {twins[name]: ends[name] for name in list(ends) if name in twins}
        return ends

    @property
    def reason(self) -> str:
        """The decisions and the blocks they took, in words; empty if nothing is decided."""
        blocks = self._plan.blocks
        decided = describe_decisions(list(self._decided.values()), blocks)
        late = _describe_end(self._last, blocks) if self._last else ""
        return "; ".join(filter(None, (decided, late)))

    def as_json(self) -> JsonObject:
        """Return the content of `stop.json`.

        Open comparisons have no width: only the last analysis reports how they stand.
        """
        states = [
            state if state.repetition is not None else replace(state, width=None)
            for state in self._states.values()
        ]
        return {
            "version": STOP_VERSION,
            "repetition": max(self.ends.values()) if self.ended else None,
            "reason": self.reason,
            "networks": self.ends,
            "comparisons": list(map(asdict, states)),
        }

    @property
    def _decided(self) -> dict[Key, ComparisonState]:
        return {key: state for key, state in self._states.items() if state.repetition is not None}

    def _states_of(self, kept: pl.DataFrame, repetition: int) -> list[ComparisonState]:
        plan = self._plan
        gains = sequential_gains(
            kept,
            plan.primary_metric,
            plan.comparisons,
            self._networks,
            self._sites,
            self._rule.horizon,
        )
        least_ms = plan.smallest_effect_of_interest_ms
        gains = with_margins(gains, kept, plan.primary_metric, least_ms)
        return comparison_states(gains, self._rule, repetition, plan.blocks)


def end_by_time(plan: Plan, repetition: int) -> JsonObject:
    """Return the `stop.json` of a study with a fixed number of blocks whose time is over."""
    return {
        "version": STOP_VERSION,
        "repetition": repetition,
        "reason": _describe_end(repetition, plan.blocks),
        "networks": {network.name: repetition for network in plan.networks},
        "comparisons": [],
    }


def _describe_end(repetition: int, blocks: int) -> str:
    return f"the time budget ended the loads after {repetition} of {blocks} blocks"


def describe_decisions(decided: Sequence[ComparisonState], blocks: int) -> str:
    """Describe the decisions on a study's comparisons, and after how many of its `blocks`."""
    clauses = []
    for state, words in _PHRASES.items():
        of_kind = [each for each in decided if each.state == state]
        named = [f"{each.comparison} on {each.network} after {each.repetition}" for each in of_kind]
        if len(of_kind) > NAMED_MAX:
            after = [each.repetition or 0 for each in of_kind]
            named = [f"{len(of_kind)} comparisons after {min(after)} to {max(after)}"]
        if named:
            clauses.append(f"{', '.join(named)} of {blocks} blocks: {words}")
    return "; ".join(clauses)


def make_decided_gains(
    gains: Sequence[NetworkGain],
    plan: Plan,
    sites: Sequence[str],
    stopped: JsonMapping | None,
    blocks: Callable[[int], pl.DataFrame],
) -> list[NetworkGain]:
    """Replace the primary metric's gains by those from confidence sequences.

    A comparison that was decided (`stopped`: `stop.json`) has the blocks up to its decision, any
    other all of them. `blocks` returns the compared trials up to a repetition.
    """
    decided = last_repetitions(stopped)
    last = {
        key: decided.get(key, plan.blocks)
        for key in product(list_compared_networks(plan), plan.comparisons)
    }
    found: dict[Key, NetworkGain] = {}
    for repetition in sorted(set(last.values())):
        here = [key for key in last if last[key] == repetition]
        found |= _gains_of(blocks(repetition), plan, sites, here)
    metric = plan.primary_metric
    return [
        found.get((gain.network, gain.comparison), gain) if gain.metric == metric else gain
        for gain in gains
    ]


def last_repetitions(stopped: JsonMapping | None) -> dict[Key, int]:
    """Return the repetition at which each comparison was decided; open ones are absent."""
    return {
        (each["network"], Comparison(each["stack"], each["reference"])): each["repetition"]
        for each in (stopped["comparisons"] if stopped else ())
        if each["repetition"] is not None
    }


def _gains_of(
    kept: pl.DataFrame, plan: Plan, sites: Sequence[str], keys: Sequence[Key]
) -> dict[Key, NetworkGain]:
    """Return the gains of these comparisons, by network and comparison.

    Accompanying analyses keep only their values: their intervals do not allow for interim analyses.
    """
    metric, networks = plan.primary_metric, list_compared_networks(plan)
    every = sequential_gains(kept, metric, plan.comparisons, networks, sites, horizon_of(plan))
    every = with_margins(every, kept, metric, plan.smallest_effect_of_interest_ms)
    sequential = {(gain.network, gain.comparison): gain for gain in every}
    mine = kept.filter(pl.col("network").is_in([network for network, _ in keys]))
    cells = compare_cells(mine, [metric], plan.comparisons)
    planned = [
        (network, comparison.stack, comparison.reference, metric) for network, comparison in keys
    ]
    beside = {
        (gain.network, gain.comparison): gain
        for gain in network_gains(cells, sites, planned, metric)
    }
    return {key: _as_looked_at(sequential[key], beside[key]) for key in keys}


def _as_looked_at(gain: NetworkGain, beside: NetworkGain) -> NetworkGain:
    slow = replace(beside.slow_loads, p=None) if beside.slow_loads else None
    return replace(
        gain,
        difference=gain.difference if gain.zero_scale else value_alone(beside.difference),
        ratio_of_means=value_alone(beside.ratio_of_means),
        slow_loads=slow,
    )


Comparisons = tuple[Comparison, ...]


def post_hoc_comparisons(
    plan: Plan, reference: str | None, pairs: Sequence[str] = ()
) -> tuple[Plan, Comparisons]:
    """Return the plan with other comparisons, and the plan's own if these differ from them.

    `reference`: compare every other stack with this one; `pairs`: STACK/REFERENCE each, in order.

    Raises PlanError for an unknown stack, and for a study that may stop early: its own comparisons
    decided when it stopped, so that the loads of any other are a biased selection.
    """
    if reference is None and not pairs:
        return plan, ()
    option = "--against" if reference else "--compare"
    twins = plan.causes.stacks.values() if plan.causes else ()
    hidden = {name for of_stack in twins for name in of_stack.values()}
    stacks = [stack.name for stack in plan.stacks if stack.name not in hidden]
    # Names of variants' stacks have a slash of their own.
    slashes = 3 if plan.variants else 1
    if any(pair.count("/") != slashes for pair in pairs):
        raise PlanError(
            [f"--compare: `{', '.join(pairs)}`: write STACK/REFERENCE, such as quic/tcp+"]
        )
    split = [_halves(pair) for pair in pairs]
    named = [name for pair in split for name in pair] + [reference or stacks[0]]
    for name in named:
        if name not in stacks:
            raise PlanError([f"{option}: {unknown('stack', name, stacks)}"])
    if plan.stop:
        raise PlanError(
            [
                (
                    f"{option}: the study may stop early, based on the comparisons that its plan "
                    "declares; leave it out"
                )
            ]
        )
    chosen = tuple(dict.fromkeys(Comparison(*pair) for pair in split))
    if same := [each.stack for each in chosen if each.stack == each.reference]:
        raise PlanError(
            [f"--compare: `{same[0]}` is compared with itself; name two different stacks"]
        )
    compared = chosen or against_one(named[-1], stacks)
    declared = () if compared == plan.comparisons else plan.comparisons
    return replace(plan, comparisons=compared), declared


def _halves(pair: str) -> tuple[str, str]:
    """Split a pair at its middle slash."""
    parts = pair.split("/")
    middle = len(parts) // 2
    return "/".join(parts[:middle]), "/".join(parts[middle:])


def find_figure_metric(metric: str) -> str:
    """Return the metric that figures draw, by its own or its short name; an empty name stands for
    no choice. Raises PlanError for one that they cannot draw."""
    found = full_name(metric, PRIMARY_METRICS)
    if metric and found not in PRIMARY_METRICS:
        raise PlanError([f"--metric: {unknown('time', metric, with_short_names(PRIMARY_METRICS))}"])
    return found


def restrict_to_sites(stored: StoredPlan, sites: Sequence[str]) -> StoredPlan:
    """Return the plan with these sites alone, in its own order.

    Raises PlanError for an unknown site, and for a study that may stop early: all of its sites
    together decided when it stopped.
    """
    plan = stored.plan
    for name in sites:
        if name not in plan.sites:
            raise PlanError([f"--site: {unknown('site', name, plan.sites)}"])
    if plan.stop:
        raise PlanError(
            ["--site: the study may stop early, based on what all of its sites show; leave it out"]
        )
    return replace(
        stored,
        plan=replace(plan, sites=tuple(site for site in plan.sites if site in sites)),
        recordings=tuple(each for each in stored.recordings if each.name in sites),
        trials=tuple(trial for trial in stored.trials if trial.site in sites),
    )
