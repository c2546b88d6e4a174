"""Which machine has what of a run's recordings and traces, and who gets it next."""

from collections.abc import Sequence
from enum import Enum

from eyelevel.cluster.names import SlotName
from eyelevel.run.block.inputs import Input

COMING_MAX = 4
"""How many are on their way at once: each is in memory here several times, and the link to a dozen
machines at once would bring all of them late."""


class Then(Enum):
    """What a slot does that asked for something which is not sent to it now."""

    LOOK = "look again"
    WAIT = "wait"


class Supplies:
    """Each input goes once to a machine, to the slot that asked first. The others of the machine
    wait meanwhile, as does whoever asks while COMING_MAX are on their way, and look again when one
    is there. A slot that lacks it even then gets it, since somebody has cleared the machine's
    cache."""

    def __init__(self) -> None:
        self._there: set[tuple[str, str]] = set()
        """Machines and digests."""
        self._looked: set[tuple[str, str]] = set()
        """Slots and digests: it was there when they were told to look, or was sent to them."""
        self._coming: dict[str, tuple[str, str]] = {}
        """By the slot that it is sent to, as in `_there`."""
        self._waiting: dict[str, None] = {}
        """Slots, in the order of their asking."""

    def asked(self, slot: str, lacking: Sequence[Input]) -> Input | Then:
        """What is sent to a slot that lacks these, if anything is."""
        machine = SlotName.of(slot).machine
        for needed in lacking:
            is_there, looked = (machine, needed.digest), (slot, needed.digest)
            if is_there in self._coming.values():
                self._waiting[slot] = None
                return Then.WAIT
            if is_there not in self._there or looked in self._looked:
                if len(self._coming) == COMING_MAX:
                    self._waiting[slot] = None
                    return Then.WAIT
                self._coming[slot] = is_there
                self._looked.add(looked)
                return needed
            self._looked.add(looked)
        return Then.LOOK

    def kept(self, slot: str) -> list[str]:
        """A slot has what was sent to it; the slots that look again, itself the first."""
        self._there.add(self._coming.pop(slot))
        return [slot, *self._no_longer_waiting()]

    def went(self, slot: str) -> list[str]:
        """A slot is gone, with what was on its way to it; the slots that look again."""
        self._waiting.pop(slot, None)
        if self._coming.pop(slot, None) is None:
            return []
        return self._no_longer_waiting()

    def is_coming(self, slot: str) -> bool:
        """Whether something is on its way to a slot."""
        return slot in self._coming

    def _no_longer_waiting(self) -> list[str]:
        waited = [*self._waiting]
        self._waiting.clear()
        return waited
