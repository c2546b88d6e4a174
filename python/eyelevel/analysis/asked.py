"""What is asked of a run: the comparisons that its plan declares, or others, chosen afterwards."""

from eyelevel.errors import PlanError, unknown
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.plan.comparisons import Comparison, against_one

Comparisons = tuple[Comparison, ...]


def comparisons_of(plan: JsonMapping) -> Comparisons:
    """What a `plan.json` asks."""
    return tuple(Comparison.read(asked) for asked in plan["comparisons"])


def asked_afterwards(plan: JsonObject, reference: str | None) -> tuple[JsonObject, Comparisons]:
    """The plan with every other stack against this one, and what it declares if that is not it.

    Raises PlanError for an unknown stack, and for a study that may stop early: it stopped by what
    its own comparisons showed, so that the loads of others are chosen, too.
    """
    if reference is None:
        return plan, ()
    twins = (plan.get("causes") or {}).get("stacks", {}).values()
    hidden = {name for of_stack in twins for name in of_stack.values()}
    stacks = [stack["name"] for stack in plan["stacks"] if stack["name"] not in hidden]
    if reference not in stacks:
        raise PlanError([f"--against: {unknown('stack', reference, stacks)}"])
    if plan.get("stop"):
        raise PlanError(
            ["--against: the study may stop early, by the comparisons that its plan declares"]
        )
    asked, declared = against_one(reference, stacks), comparisons_of(plan)
    stated = [each.stated() for each in asked]
    return {**plan, "comparisons": stated}, () if asked == declared else declared
