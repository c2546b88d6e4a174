"""Comparisons of two stacks, which a plan declares before any load."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.settings import Settings


@dataclass(frozen=True, order=True)
class Comparison(Settings):
    """A comparison of a stack with a reference stack: is it faster, and by how much?

    Both fields are names of stacks.
    """

    stack: str
    reference: str

    def __str__(self) -> str:
        return f"{self.stack} against {self.reference}"


class Compared:
    """Base class for the results of one comparison.

    Subclasses have the fields `stack` and `reference`.
    """

    stack: str
    reference: str

    @property
    def comparison(self) -> Comparison:
        """The comparison that this is a result of."""
        return Comparison(self.stack, self.reference)


def against_one(reference: str, stacks: Sequence[str]) -> tuple[Comparison, ...]:
    """Return comparisons of each other stack with `reference`, in order: a plan's default."""
    return tuple(Comparison(stack, reference) for stack in stacks if stack != reference)


def references_first(comparisons: Sequence[Comparison], stacks: Sequence[str]) -> list[str]:
    """Return the stacks in the order of tables and colours, references first."""
    references = {comparison.reference for comparison in comparisons}
    against_others = {comparison.stack for comparison in comparisons}

    def place(stack: str) -> int:
        if stack in references:
            return int(stack in against_others)
        return 2 if stack in against_others else 3

    return sorted(stacks, key=place)
