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


Step = Input | Then
"""An input is sent to the slot."""


class InputTransfers:
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
        self._waiting: dict[str, Sequence[Input]] = {}
        """What slots lack, in the order of their asking."""

    def asked(self, slot: str, lacking: Sequence[Input]) -> Step:
        """What is sent to a slot that lacks these, if anything is."""
        machine = SlotName.of(slot).machine
        for needed in lacking:
            is_there, looked = (machine, needed.digest), (slot, needed.digest)
            if is_there in self._coming.values():
                self._waiting[slot] = lacking
                return Then.WAIT
            if is_there not in self._there or looked in self._looked:
                if len(self._coming) == COMING_MAX:
                    self._waiting[slot] = lacking
                    return Then.WAIT
                self._coming[slot] = is_there
                self._looked.add(looked)
                return needed
            self._looked.add(looked)
        return Then.LOOK

    def kept(self, slot: str) -> list[tuple[str, Step]]:
        """A slot has what was sent to it; it looks again, and so does who waited for that."""
        self._there.add(self._coming.pop(slot))
        return [(slot, Then.LOOK), *self._freed()]

    def went(self, slot: str) -> list[tuple[str, Step]]:
        """A slot is gone, with what was on its way to it; what the others do that waited."""
        self._waiting.pop(slot, None)
        return [] if self._coming.pop(slot, None) is None else self._freed()

    def is_coming(self, slot: str) -> bool:
        """Return whether something is on its way to a slot."""
        return slot in self._coming

    def _freed(self) -> list[tuple[str, Step]]:
        """What is done by those that wait no longer."""
        waiting, self._waiting = self._waiting, {}
        steps = [(slot, self.asked(slot, lacking)) for slot, lacking in waiting.items()]
        return [(slot, step) for slot, step in steps if step is not Then.WAIT]
