"""Report what a run is waiting for: machines, or missing slots of a machine."""

import time
from collections.abc import Callable, Collection

from eyelevel.cluster.names import SlotName

NOBODY_S = 600.0
"""The time that a run waits for a machine before it reports that."""
PART_S = 120.0
"""How long a machine may lack slots before that is reported; it is not admitted until all are
there."""


class Presence:
    """The reports of one run, whose workers connect to `address` (or a file that has it); each line
    is reported once as long as it holds."""

    def __init__(
        self,
        address: str,
        report: Callable[[str], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address, self._report, self._now_s = address, report, now_s
        self._alone_since_s = now_s()
        self._is_told = False
        self._whole: set[str] = set()
        self._part_since_s: dict[str, float] = {}

    def see(self, slots: Collection[str], refused: Collection[str]) -> None:
        """Report on the present slots, given also the IDs of refused machines."""
        self._see_parts(slots)
        machines = {SlotName.of(slot).machine for slot in slots}
        if machines - set(refused):
            self._alone_since_s, self._is_told = self._now_s(), False
        elif machines:
            self._tell(f"all {len(machines)} machines that joined were refused; waiting for others")
        elif self._now_s() - self._alone_since_s > NOBODY_S:
            self._tell(
                f"no machine has joined for {NOBODY_S / 60:g} minutes; start one with `eyelevel "
                f"worker {self._address}`; waiting on"
            )

    def _see_parts(self, slots: Collection[str]) -> None:
        """Report once a machine that lacks slots: its other slots wait for the last."""
        names = [SlotName.of(slot) for slot in slots]
        for machine in {name.machine for name in names} - self._whole:
            of_it = [name for name in names if name.machine == machine]
            there, (first, *_) = {name.number for name in of_it}, of_it
            lacking = [str(each) for each in range(1, first.count + 1) if each not in there]
            if not lacking:
                self._whole.add(machine)
                continue
            since_s = self._part_since_s.setdefault(machine, self._now_s())
            if self._now_s() - since_s > PART_S:
                self._whole.add(machine)  # what is report is report once
                self._report(
                    f"of {first.host} ({machine}) {len(there)} of {first.count} slots have joined; "
                    f"it loads nothing without slot {', '.join(lacking)}: see what `eyelevel "
                    "worker` says there"
                )

    def _tell(self, line: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._report(line)
