"""Comparisons: which stack a study holds against which, as its plan declares before any load."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.settings import Settings


@dataclass(frozen=True, order=True)
class Comparison(Settings):
    """Is `stack` faster than `reference`, and by how much? Both are names of stacks."""

    stack: str
    reference: str

    def __str__(self) -> str:
        return f"{self.stack} against {self.reference}"


class Compared:
    """A base class for results of one comparison; `stack` and `reference` are fields of the
    subclass."""

    stack: str
    reference: str

    @property
    def comparison(self) -> Comparison:
        """The comparison that it is of."""
        return Comparison(self.stack, self.reference)


def against_one(reference: str, stacks: Sequence[str]) -> tuple[Comparison, ...]:
    """Return each other stack against `reference`, in their order: what a plan asks that declares
    none."""
    return tuple(Comparison(stack, reference) for stack in stacks if stack != reference)


def references_first(comparisons: Sequence[Comparison], stacks: Sequence[str]) -> list[str]:
    """Return the stacks in the order of tables and colours: what others are held against comes
    first."""
    references = {comparison.reference for comparison in comparisons}
    against_others = {comparison.stack for comparison in comparisons}

    def place(stack: str) -> int:
        if stack in references:
            return int(stack in against_others)
        return 2 if stack in against_others else 3

    return sorted(stacks, key=place)
