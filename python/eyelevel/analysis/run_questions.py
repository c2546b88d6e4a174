"""Choose the questions for two runs: comparisons of both against an unchanged stack."""

from dataclasses import dataclass
from itertools import product

from eyelevel.analysis.gate_conditions import GateError
from eyelevel.analysis.study import StudyResults
from eyelevel.base.errors import unknown
from eyelevel.plan.comparisons import against_one


@dataclass(frozen=True)
class RunQuestion:
    """A question on the change of one comparison's gain, or the reason that it has no answer."""

    network: str
    stack: str
    reference: str | None
    unanswerable: str = ""

    def subject(self, metric: str) -> str:
        """Return the subject of the question, as the gate's conditions write it."""
        return f"{self.stack}.{metric} on {self.network}"


def sites_of_both(old: StudyResults, new: StudyResults) -> list[str]:
    """Return the sites that both runs have with the same recording."""
    before, now = (
        {site["name"]: site["digest"] for site in run.plan["sites"]} for run in (old, new)
    )
    return [name for name in now if before.get(name) == now[name]]


def run_questions(
    old: StudyResults, new: StudyResults, control_stack: str | None = None
) -> list[RunQuestion]:
    """Return one question per network and comparison of NEW's plan whose stack both runs have.

    With `control_stack` each stack is compared with that one. If no two stacks are compared, there
    is one question without an answer per stack. Raises GateError if the runs have nothing in
    common, or if one of them lacks the control stack.
    """
    networks = [name for name in new.networks if name in old.networks]
    stacks = [name for name in new.stacks if name in old.stacks]
    if not (sites_of_both(old, new) and networks and stacks):
        raise GateError(
            f"comparing {old.directory} and {new.directory}: they share no site of the same "
            "recording, network and stack; give two runs of one plan"
        )
    if control_stack is not None and control_stack not in stacks:
        raise GateError(f"--control-stack: {unknown('stack of both runs', control_stack, stacks)}")
    pairs: list[tuple[str, str | None]] = [
        (stack, reference) for stack, reference in _pairs(new, control_stack) if stack in stacks
    ]
    alone = [(stack, None) for stack in stacks]
    return [
        RunQuestion(network, stack, reference, _unanswerable(old, new, reference))
        for network, (stack, reference) in product(networks, pairs or alone)
    ]


def _pairs(new: StudyResults, control_stack: str | None) -> list[tuple[str, str]]:
    """Return the stacks with their references, in the order of the plan."""
    if control_stack is not None:
        return [(asked.stack, asked.reference) for asked in against_one(control_stack, new.stacks)]
    return [(asked.stack, asked.reference) for asked in new.comparisons]


def _unanswerable(old: StudyResults, new: StudyResults, reference: str | None) -> str:
    """Return why a stack cannot serve as the control of two runs; empty if it can."""
    if reference is None:
        return "no other stack is in both runs"
    before, now = (
        next((stack for stack in run.plan["stacks"] if stack["name"] == reference), None)
        for run in (old, new)
    )
    if before is None:
        return f"the earlier run has no {reference}"
    return "" if before == now else f"the settings of {reference} differ between the runs"
