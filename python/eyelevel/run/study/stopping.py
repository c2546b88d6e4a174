"""Decide which loads of a study that may stop early are no longer needed (spec/plan.md, `stop`).

The facts of a running study's records so far, read once for all readers. Report the effects of a
running study, with intervals that hold at any number of peeks.
"""

import math
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from eyelevel.plan.plan import Plan
from eyelevel.run.study.dispatch import StopDecision
from eyelevel.store.directory import STOP_FILE, write_document

if TYPE_CHECKING:
    import polars as pl

    from eyelevel.analysis.run_files import GrowingFacts
    from eyelevel.analysis.trials.facts import Measure


class FactsSoFar:
    """The facts of a run's loads so far; the first read opens the records."""

    def __init__(self, directory: Path, measured_by: "Measure | None" = None) -> None:
        self._directory, self._measured_by = directory, measured_by
        self._facts: GrowingFacts | None = None

    def read(self) -> "pl.DataFrame":
        """Read the facts (`eyelevel.analysis.run_files.GrowingFacts`). Raises StoreError."""
        if self._facts is None:
            # Imported here: tables take long, and few runs are analysed while they go on.
            from eyelevel.analysis.metrics.catalogue import measure
            from eyelevel.analysis.run_files import GrowingFacts, read_stored_plan

            stored = read_stored_plan(self._directory)
            measured_by = self._measured_by or measure
            self._facts = GrowingFacts(self._directory, stored, measured_by)
        return self._facts.read()


class Budget:
    """The time that a run's loads may take, counted from the first question."""

    def __init__(self, limit_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._limit_s, self._now_s = limit_s, now_s
        self._began: tuple[int, float] | None = None

    def is_spent(self, repetition: int) -> bool:
        """Return whether another repetition like those so far would end too late.

        `repetition`: the last one that is complete.
        """
        now_s = self._now_s()
        if self._began is None:
            self._began = repetition, now_s
        first, began_s = self._began
        done, passed_s = repetition - first, now_s - began_s
        return done > 0 and passed_s + passed_s / done > self._limit_s


class Stopping:
    """A study's interim analyses while it runs; each decision is written to `stop.json`.

    They happen in their order, however late: their decisions depend on the records alone
    (`eyelevel.analysis.decisions`).
    """

    def __init__(
        self,
        plan: Plan,
        directory: Path,
        facts: FactsSoFar | None = None,
        budget: Budget | None = None,
    ) -> None:
        # Imported here: the statistics take long, and few commands need them; and
        # before the first load, since otherwise the import would interrupt the run.
        from eyelevel.analysis.decisions import Decisions
        from eyelevel.analysis.run_files import read_stored_plan

        self._directory, self._blocks, self._budget = directory, plan.blocks, budget
        # The end of an earlier budget does not hold for a resumed run; decisions are made again.
        (directory / STOP_FILE).unlink(missing_ok=True)
        self._decisions = Decisions(plan, read_stored_plan(directory).plan.sites)
        self._facts = facts or FactsSoFar(directory)

    def ended(self, repetition: int) -> StopDecision:
        """Return the decision after all loads up to a repetition are committed.

        Loads of ended networks do not count.
        """
        decisions = self._decisions
        before = decisions.reason
        if decisions.due(repetition):
            decisions.analyse(repetition, self._facts.read())
        is_spent = self._budget is not None and self._budget.is_spent(repetition)
        if is_spent and not decisions.ended and repetition < self._blocks:
            decisions.run_out_of_time(repetition)
        if decisions.reason != before:
            write_document(self._directory, STOP_FILE, decisions.as_json())
        return StopDecision(decisions.ends, decisions.reason)


class TimeLimit:
    """The end of a study with a fixed number of blocks once its time is over.

    It does not depend on the results, so that their intervals hold.
    """

    def __init__(self, plan: Plan, directory: Path, budget: Budget) -> None:
        # Imported here: the statistics take long, and few commands need them.
        from eyelevel.analysis.decisions import end_by_time

        self._plan, self._directory, self._budget = plan, directory, budget
        self._end_by_time = end_by_time
        (directory / STOP_FILE).unlink(missing_ok=True)
        self._ended = StopDecision()

    def ended(self, repetition: int) -> StopDecision:
        """Return the decision after all loads up to a repetition are committed."""
        is_spent = self._budget.is_spent(repetition)
        if is_spent and not self._ended.reason and repetition < self._plan.blocks:
            document = self._end_by_time(self._plan, repetition)
            write_document(self._directory, STOP_FILE, document)
            self._ended = StopDecision(document["networks"], document["reason"])
        return self._ended


def stopping_rule(
    plan: Plan, directory: Path, facts: FactsSoFar | None = None, budget_s: float | None = None
) -> Callable[[int], StopDecision] | None:
    """Return a function that decides which networks end after a repetition.

    `budget_s`: the time that all loads may take. Without it and without a rule, it is None.
    """
    budget = None if budget_s is None else Budget(budget_s)
    if plan.stop:
        return Stopping(plan, directory, facts, budget).ended
    return None if budget is None else TimeLimit(plan, directory, budget).ended


SHOWN_MAX = 4


def live_effects(
    plan: Plan, directory: Path, *, peek: bool, facts: FactsSoFar | None = None
) -> Callable[[], str] | None:
    """Return a function that returns the primary metric's gains so far in one line, or None.

    With a fixed number of blocks there are none unless `peek` is set: stopping at the first t
    interval that excludes zero gives wrong results in a fourth of runs
    (`benchmarks.statistics.peeking`). The gains are those with a confidence sequence, at most
    SHOWN_MAX, the largest first.
    """
    if plan.stop is None and not peek:
        return None
    # Imported here: the statistics take long, and few commands need them; and before
    # the first load, since otherwise the import would interrupt the run.
    from eyelevel.analysis.decisions import horizon_of, judge_prefix, list_compared_networks
    from eyelevel.analysis.formats import format_interval, format_percent, format_signed_ms
    from eyelevel.analysis.gains.causes import without_twins
    from eyelevel.analysis.gains.sequential import sequential_gains
    from eyelevel.analysis.run_files import read_stored_plan
    from eyelevel.analysis.trials.blocks import select_blocks

    # scipy's tests are imported at their first use, which takes a processor two seconds.
    import_module("scipy.stats")

    stored = read_stored_plan(directory)
    so_far = facts or FactsSoFar(directory)
    networks = list_compared_networks(plan)

    def look() -> str:
        table = judge_prefix(so_far.read(), plan.primary_metric)
        blocks = select_blocks(table, [stack.name for stack in plan.stacks])
        _, _, blocks = without_twins(stored, table, blocks)
        kept = blocks.kept
        gains = sequential_gains(
            kept,
            plan.primary_metric,
            plan.comparisons,
            networks,
            stored.plan.sites,
            horizon_of(plan),
        )
        known = [gain for gain in gains if gain.gain.determined]
        known.sort(key=lambda gain: -abs(gain.gain.value or 0.0))
        phrases = [
            f"{gain.comparison} on {gain.network} {format_signed_ms(difference, math.inf)}"
            if gain.is_absolute and (difference := gain.difference.value) is not None
            else f"{gain.comparison} on {gain.network} {format_percent(gain.gain.value or 0.0)} "
            f"[{format_interval(gain.gain)}]"
            for gain in known[:SHOWN_MAX]
        ]
        if not phrases:
            return ""
        count = kept["block"].n_unique()
        more = f" and {len(known) - SHOWN_MAX} more" if len(known) > SHOWN_MAX else ""
        return (
            f"so far, of {count} {'block' if count == 1 else 'blocks'}: {'; '.join(phrases)}{more}"
            " (these intervals hold at every look)"
        )

    return look
