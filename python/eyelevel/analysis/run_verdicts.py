"""The verdicts on two runs, one per comparison and network, and their common basis."""

from dataclasses import dataclass
from typing import get_args

from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.gate import GateStatus, Verdict
from eyelevel.analysis.stats.estimate import CONFIDENCE, Estimate
from eyelevel.base.json_types import JsonObject

ONE_PLAN = "load what you compare as two stacks of one plan, whose loads share blocks"


@dataclass(frozen=True, kw_only=True)
class RunVerdict(Verdict):
    """The verdict on one comparison on one network.

    `estimate` is the change of its gain between two runs.
    """

    network: str
    stack: str
    reference: str | None
    """The reference; None if the stack is compared with none and so has no verdict."""
    gain_before: Estimate
    gain_now: Estimate

    def as_json(self) -> dict[str, object]:
        """Return the JSON of a report (docs/reference/report.md)."""
        gains = {name: getattr(self, name).as_json() for name in ("gain_before", "gain_now")}
        return super().as_json() | gains


@dataclass(frozen=True)
class RunComparison:
    """The verdicts on two runs, and the differences between the runs, one line each."""

    metric: str
    verdicts: tuple[RunVerdict, ...]
    differences: tuple[str, ...]

    @property
    def assumption(self) -> str:
        """The assumption behind the verdicts on stacks, as a sentence; empty without one.

        Verdicts on whether gains agree need no such assumption: any change of a stack is part of
        them.
        """
        judged = [each for each in self.verdicts if each.status in get_args(GateStatus)]
        found = dict.fromkeys(each.reference for each in judged if each.reference)
        if not found:
            return ""
        return (
            f"Each stack is compared with {' or '.join(found)} in its own run, which assumes "
            f"that both change alike from run to run. To avoid this assumption, {ONE_PLAN}."
        )

    @property
    def level(self) -> str:
        """A sentence on the confidence of the intervals if it is not 95 %, otherwise empty.

        In a run's own report the interval of the same gain is narrower: it is not corrected for the
        questions on two runs.
        """
        found = [each.confidence for each in self.verdicts if each.estimate.determined]
        if not found or found[0] <= CONFIDENCE:
            return ""
        percent = format_percent(found[0], signed=False)
        return (
            f"All intervals hold together with 95 % confidence: each is a {percent} interval, "
            "wider than a report's."
        )

    def as_json(self) -> JsonObject:
        """Return the JSON that accompanies the verdicts (docs/reference/report.md)."""
        assumes = self.assumption or None
        return {"metric": self.metric, "assumes": assumes, "differences": list(self.differences)}
