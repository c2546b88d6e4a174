"""Parse a plan's comparisons: its `comparisons`, or each stack with its `reference`."""

from collections.abc import Sequence

from eyelevel.base.errors import unknown
from eyelevel.plan.comparisons import Comparison, against_one
from eyelevel.plan.file.diagnostics import Report
from eyelevel.plan.file.model import PlanKeys
from eyelevel.plan.stack_terms import (
    EXTERNAL_SERVER_MARK,
)
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import Variant, against_variant, with_variants


def parse_comparisons(
    parsed: PlanKeys, alone: Sequence[Stack], variants: Sequence[Variant], report: Report
) -> tuple[Comparison, ...]:
    """Return the declared comparisons in order; mistakes are reported with their place.

    A stack with an external server may be named without its suffix. With `variants` they are of
    `VARIANT/STACK`, and the reference is one of the variants.
    """
    if len(alone) < len(parsed.stacks):  # some stacks are invalid themselves
        return ()
    stacks = [stack.name for stack in with_variants(alone, variants)]
    what = "VARIANT/STACK" if variants else "stack"
    if parsed.comparisons is None:
        if parsed.reference is None:
            report((), "say what to compare: `comparisons = [[STACK, REFERENCE], ...]`, or "
                       "`reference = STACK` to compare every other stack with it")  # fmt: skip
            return ()
        if variants:
            names = [variant.name for variant in variants]
            reference = _check_known("variant", parsed.reference, names, ("reference",), report)
            return against_variant(reference, variants, alone) if reference else ()
        reference = _check_known(what, parsed.reference, stacks, ("reference",), report)
        return against_one(reference, stacks) if reference else ()
    if parsed.reference is not None:
        report(("reference",), "`comparisons` already says what to compare; drop one of the two")
    found: list[Comparison] = []
    for index, pair in enumerate(parsed.comparisons):
        place = ("comparisons", index)
        stack, reference = (_check_known(what, name, stacks, place, report) for name in pair)
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
    what: str, name: str, known: Sequence[str], place: tuple[str | int, ...], report: Report
) -> str:
    marked = name + EXTERNAL_SERVER_MARK
    if marked in known:
        return marked
    if name not in known:
        report(place, unknown(what, name, known))
        return ""
    return name
