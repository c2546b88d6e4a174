"""Decide which slot is sent which recording or trace, once per machine."""

from collections.abc import Sequence
from enum import Enum

from eyelevel.cluster.names import SlotName
from eyelevel.run.block.inputs import Input

COMING_MAX = 4
"""The most transfers at once: each is in memory here several times, and on a shared link a dozen at
once would all be late."""


class NextStep(Enum):
    """The next step of a slot that asked for an input which is not sent to it now."""

    LOOK = "look again"
    WAIT = "wait"


Step = Input | NextStep
"""An input is sent to the slot."""


class InputTransfers:
    """The transfers of a run. Each input goes to a machine once, to the slot that asked first. The
    machine's other slots wait meanwhile, as does any slot that asks while COMING_MAX transfers are
    under way, and look again when the input has arrived. A slot that still lacks it is sent it,
    since the machine's cache has been cleared."""

    def __init__(self) -> None:
        self._there: set[tuple[str, str]] = set()
        """Machines and the digests that they have."""
        self._looked: set[tuple[str, str]] = set()
        """Slots and the digests for which they looked again or that were sent to them."""
        self._coming: dict[str, tuple[str, str]] = {}
        """Machine and digest of each transfer, by the slot that it is sent to."""
        self._waiting: dict[str, Sequence[Input]] = {}
        """The inputs that waiting slots lack, in the order of their requests."""

    def request(self, slot: str, lacking: Sequence[Input]) -> Step:
        """Return the input to send to a slot that lacks these, or what it does instead."""
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
        """Take note that a slot received its input; return the next steps of it and of others."""
        self._there.add(self._coming.pop(slot))
        return [(slot, NextStep.LOOK), *self._serve_waiting()]

    def on_slot_left(self, slot: str) -> list[tuple[str, Step]]:
        """Take note that a slot left with its transfer; return the next steps of those waiting."""
        self._waiting.pop(slot, None)
        return [] if self._coming.pop(slot, None) is None else self._serve_waiting()

    def is_coming(self, slot: str) -> bool:
        """Return whether something is on its way to a slot."""
        return slot in self._coming

    def _serve_waiting(self) -> list[tuple[str, Step]]:
        """Return the next steps of slots that need not wait any longer."""
        waiting, self._waiting = self._waiting, {}
        steps = [(slot, self.request(slot, lacking)) for slot, lacking in waiting.items()]
        return [(slot, step) for slot, step in steps if step is not NextStep.WAIT]
