"""The decisions of a study that may stop early, and the repetitions after which they were made.

Its interim analyses and its final answer are one sequence: each analysis reads a closed prefix of
the records, every block up to a repetition, judged by these records alone, and its decisions are
final. So the records alone determine when the study stops and what it reports, whatever the pace of
the loads, the number of runs and the times of analysis.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace

import polars as pl

from eyelevel.analysis.gains.exclusions import MEASURED
from eyelevel.analysis.gains.margins import with_margins
from eyelevel.analysis.gains.sequential import (
    GAINS_LEVEL,
    ComparisonState,
    comparison_states,
    sequential_gains,
)
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.stats.sequential import Horizon
from eyelevel.analysis.stats.stopping_rule import Rule, State, interim_repetitions
from eyelevel.analysis.trials.blocks import COMPARED_BY, Blocks, select_blocks, without_networks
from eyelevel.analysis.trials.disturbance import find_withheld
from eyelevel.analysis.trials.post_hoc_exclusions import JUDGED_BY, judge_table
from eyelevel.analysis.trials.user_timings import timings_of
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.plan import Plan, StopRule

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


def networks_compared(plan: Plan) -> list[str]:
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
    family = max(1, len(plan.comparisons) * len(networks_compared(plan)))
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
        self._networks = networks_compared(plan)
        self._due = interim_repetitions(plan.stop.blocks_min, plan.blocks)
        self._states: dict[Key, ComparisonState] = {}

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

    @property
    def ended(self) -> bool:
        """Whether all comparisons are decided."""
        return len(self._decided) == len(self._networks) * len(self._plan.comparisons)

    @property
    def ends(self) -> dict[str, int]:
        """The repetition after which each network's loads end: all its comparisons are decided.

        A counterfactual network ends with its twin. Networks that go on are absent.
        """
        ends: dict[str, int] = {}
        for network in self._networks:
            states = [state for state in self._states.values() if state.network == network]
            since = [state.repetition for state in states if state.repetition is not None]
            if since and len(since) == len(self._plan.comparisons):
                ends[network] = max(since)
        if self._plan.causes:
            twins = self._plan.causes.networks
            ends |= {twins[name]: ends[name] for name in list(ends) if name in twins}
        return ends

    @property
    def reason(self) -> str:
        """The decisions and the blocks they took, in words; empty if nothing is decided."""
        return describe_decisions(list(self._decided.values()), self._plan.blocks)

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
