"""Decide which loads of a study that may stop early are no longer needed (spec/plan.md, `stop`)."""

from collections.abc import Callable
from pathlib import Path

from eyelevel.plan.plan import Plan
from eyelevel.run.study.dispatch import StopDecision
from eyelevel.run.study.facts import FactsSoFar
from eyelevel.store.directory import PLAN_FILE, STOP_FILE, read_document, write_document


class Stopping:
    """A study's interim analyses while it runs; each decision is written to `stop.json`.

    They happen in their order, however late: their decisions depend on the records alone
    (`eyelevel.analysis.decisions`).
    """

    def __init__(self, plan: Plan, directory: Path, facts: FactsSoFar | None = None) -> None:
        # Imported here: the statistics take long, and few commands need them; and
        # before the first load, since otherwise the import would interrupt the run.
        from eyelevel.analysis.decisions import Decisions

        self._directory = directory
        document = read_document(directory, PLAN_FILE)
        self._decisions = Decisions(plan, [site["name"] for site in document["sites"]])

        self._facts = facts or FactsSoFar(directory)

    def ended(self, repetition: int) -> StopDecision:
        """Return the decision after all loads up to a repetition are committed.

        Loads of ended networks do not count.
        """
        decisions = self._decisions
        if decisions.due(repetition):
            before = decisions.reason
            decisions.analyse(repetition, self._facts.read())
            if decisions.reason != before:
                write_document(self._directory, STOP_FILE, decisions.as_json())
        return StopDecision(decisions.ends, decisions.reason)


def stopping_rule(
    plan: Plan, directory: Path, facts: FactsSoFar | None = None
) -> Callable[[int], StopDecision] | None:
    """Return a function that decides which networks end after a repetition; None without a rule."""
    return Stopping(plan, directory, facts).ended if plan.stop else None
