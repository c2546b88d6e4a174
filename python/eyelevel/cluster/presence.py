"""Report what a run is waiting for: machines, or missing slots of a machine."""

import time
from collections.abc import Callable, Collection

from eyelevel.cluster.names import SlotName

NOBODY_S = 600.0
"""Seconds without a machine after which that is reported."""
PART_S = 120.0
"""Seconds for which a machine may lack slots before that is reported; it is admitted once
complete.
"""


class Presence:
    """Reports on missing machines and slots of one run; each line is reported once while it holds.

    Its workers connect to `address`, an address or a file that contains one.
    """

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
        """Update the reports, given the present slots and the ids of refused machines."""
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
        """Report a machine that lacks slots, once: its other slots wait for them."""
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
                self._whole.add(machine)  # each is reported once
                self._report(
                    f"of {first.host} ({machine}) {len(there)} of {first.count} slots have joined; "
                    f"it loads nothing without slot {', '.join(lacking)}: see what `eyelevel "
                    "worker` says there"
                )

    def _tell(self, line: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._report(line)
