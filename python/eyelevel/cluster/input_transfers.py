"""Decide which recording or trace is sent to which slot, once per machine."""

from collections.abc import Sequence
from enum import Enum

from eyelevel.cluster.names import SlotName
from eyelevel.run.block.inputs import Input

COMING_MAX = 4
"""Maximum concurrent transfers: each needs several times its size in memory here, and on a
shared link a dozen at once would all be late.
"""


class NextStep(Enum):
    """Next step of a slot that requested an input and is not sent it now."""

    LOOK = "look again"
    WAIT = "wait"


Step = Input | NextStep
"""An input to send to the slot, or what the slot does instead."""


class InputTransfers:
    """The transfers of a run: each input is sent to a machine once.

    The slot that requests it first receives it. The machine's other slots wait meanwhile, as does
    any slot that makes a request while `COMING_MAX` transfers are running, and check again when the
    input has arrived. If it is then missing, the machine's cache was cleared, and the slot is sent
    the input.
    """

    def __init__(self) -> None:
        self._there: set[tuple[str, str]] = set()
        """Pairs of machine and digest of an input that it has."""
        self._looked: set[tuple[str, str]] = set()
        """Pairs of slot and digest for which it checked again or was sent the input."""
        self._coming: dict[str, tuple[str, str]] = {}
        """Machine and digest of each running transfer, by receiving slot."""
        self._waiting: dict[str, Sequence[Input]] = {}
        """Inputs that waiting slots lack, in order of request."""

    def request(self, slot: str, lacking: Sequence[Input]) -> Step:
        """Return the next step of a slot that lacks these inputs."""
        machine = SlotName.of(slot).machine
        for needed in lacking:
            is_there, looked = (machine, needed.digest), (slot, needed.digest)
            if is_there in self._coming.values():
                self._waiting[slot] = lacking
                return NextStep.WAIT
            if is_there not in self._there or looked in self._looked:
                if len(self._coming) == COMING_MAX:
                    self._waiting[slot] = lacking
                    return NextStep.WAIT
                self._coming[slot] = is_there
                self._looked.add(looked)
                return needed
            self._looked.add(looked)
        return NextStep.LOOK

    def on_received(self, slot: str) -> list[tuple[str, Step]]:
        """Note that a slot received its input.

        Returns the next steps of it and of waiting slots.
        """
        self._there.add(self._coming.pop(slot))
        return [(slot, NextStep.LOOK), *self._serve_waiting()]

    def on_slot_left(self, slot: str) -> list[tuple[str, Step]]:
        """Note that a slot left during its transfer; returns the next steps of waiting slots."""
        self._waiting.pop(slot, None)
        return [] if self._coming.pop(slot, None) is None else self._serve_waiting()

    def is_coming(self, slot: str) -> bool:
        """Return whether a transfer to a slot is running."""
        return slot in self._coming

    def _serve_waiting(self) -> list[tuple[str, Step]]:
        """Return the next steps of waiting slots that can continue."""
        waiting, self._waiting = self._waiting, {}
        steps = [(slot, self.request(slot, lacking)) for slot, lacking in waiting.items()]
        return [(slot, step) for slot, step in steps if step is not NextStep.WAIT]
