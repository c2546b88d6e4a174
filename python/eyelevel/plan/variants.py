"""Variants: other recordings of a plan's pages, each loaded with every stack in the same blocks.

A stack that loads a variant is named `VARIANT/STACK`, and everything that compares stacks compares
these. No name of a plan has a slash, so both can be read from the one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from eyelevel.base.settings import LISTED, Settings
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.stacks import Stack

SLASH = "/"


@dataclass(frozen=True)
class Variant(Settings):
    """A variant of all of a plan's pages.

    Without recordings and edits, the plan's sites are loaded as they are.
    """

    name: str
    recordings: Annotated[tuple[str, ...], LISTED] = ()
    """The recordings in the place of the plan's `sites`, in their order."""
    edits: Annotated[tuple[str, ...], LISTED] = ()
    """The edits of each of its recordings, in their short forms (`eyelevel.plan.edits`)."""


def with_variants(stacks: Sequence[Stack], variants: Sequence[Variant]) -> tuple[Stack, ...]:
    """Return every stack once for each variant; the stacks themselves without variants."""
    if not variants:
        return tuple(stacks)
    return tuple(
        replace(stack, name=f"{variant.name}{SLASH}{stack.name}")
        for variant in variants
        for stack in stacks
    )


def variant_of(stack: str) -> str:
    """Return the name of the variant that a stack of this name loads; empty for the plan's
    sites."""
    return stack.rpartition(SLASH)[0]


def stack_alone(stack: str) -> str:
    """Return a stack's name without its variant's."""
    return stack.rpartition(SLASH)[2]


def are_variants(comparison: Comparison) -> bool:
    """Return whether a comparison is of two variants with one stack."""
    stack, reference = comparison.stack, comparison.reference
    return stack_alone(stack) == stack_alone(reference) and stack != reference


def against_variant(
    reference: str, variants: Sequence[Variant], stacks: Sequence[Stack]
) -> tuple[Comparison, ...]:
    """Return each other variant against `reference`, with every stack."""
    return tuple(
        Comparison(f"{variant.name}{SLASH}{stack.name}", f"{reference}{SLASH}{stack.name}")
        for variant in variants
        for stack in stacks
        if variant.name != reference
    )
