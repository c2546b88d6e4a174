"""Parse a plan's comparisons: its `comparisons`, or each stack with its `reference`."""

from collections.abc import Sequence

from eyelevel.base.errors import unknown
from eyelevel.plan.comparisons import Comparison, against_one
from eyelevel.plan.file.diagnostics import Report
from eyelevel.plan.file.model import PlanKeys
from eyelevel.plan.stack_terms import (
    EXTERNAL_SERVER_MARK,
)


def parse_comparisons(
    parsed: PlanKeys, stacks: Sequence[str], report: Report
) -> tuple[Comparison, ...]:
    """Return the declared comparisons in order; mistakes are reported with their place.

    A stack with an external server may be named without its suffix.
    """
    if len(stacks) < len(parsed.stacks):  # some stacks are invalid themselves
        return ()
    if parsed.comparisons is None:
        if parsed.reference is None:
            report((), "say what to compare: `comparisons = [[STACK, REFERENCE], ...]`, or "
                       "`reference = STACK` to compare every other stack with it")  # fmt: skip
            return ()
        reference = _check_known(parsed.reference, stacks, ("reference",), report)
        return against_one(reference, stacks) if reference else ()
    if parsed.reference is not None:
        report(("reference",), "`comparisons` already says what to compare; drop one of the two")
    found: list[Comparison] = []
    for index, pair in enumerate(parsed.comparisons):
        place = ("comparisons", index)
        stack, reference = (_check_known(name, stacks, place, report) for name in pair)
        if not stack or not reference:
            continue
        comparison = Comparison(stack, reference)
        if stack == reference:
            report(place, f"`{stack}` is compared with itself; name two different stacks")
        elif {stack, reference} in [{other.stack, other.reference} for other in found]:
            report(place, f"`{comparison}` is listed twice; drop one")
        found.append(comparison)
    return tuple(found)


def _check_known(
    name: str, stacks: Sequence[str], place: tuple[str | int, ...], report: Report
) -> str:
    marked = name + EXTERNAL_SERVER_MARK
    if marked in stacks:
        return marked
    if name not in stacks:
        report(place, unknown("stack", name, stacks))
        return ""
    return name
