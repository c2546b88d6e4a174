"""The driver that runs a study's loop on the slots of a cluster.

Report what a run is waiting for: machines, or missing slots of a machine.
"""

import os
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from eyelevel.base.errors import LaterError
from eyelevel.calibration.measuring.measure import list_level_pairs
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import check_reachable
from eyelevel.cluster.names import SlotName
from eyelevel.cluster.scheduler import SCHEDULER_FILE, SchedulerChoice, check_can_listen, connect
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.cluster.trust import check_handshake
from eyelevel.plan.browser import Browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.evidence import (
    level_facts,
    machine_facts,
    machine_problems,
    read_measurements,
    slot_loads,
)
from eyelevel.run.machines.fleet import MachineDescription, read_fleet
from eyelevel.run.study.loop import Driver, Execution, Interrupted
from eyelevel.run.study.prepare import describe, list_variant_browsers, read_variant_browsers
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.sites.recorded import RecordedSite, key_recordings

_described = cache(describe)


@dataclass(frozen=True)
class PlanQuestions:
    """Questions to machines before the first block of a plan; runs on the machine."""

    browser: Browser
    pairs: Sequence[tuple[Stack, Stack]]
    variants: Sequence[tuple[str, Browser]] = ()
    """The variants with a browser of their own."""

    def describe_machine(self) -> MachineDescription:
        """Implement `Questions.describe_machine`."""
        load = {"load_1min": os.getloadavg()[0]}  # before our own loads
        environment = _described(self.browser) | load
        facts, problems = machine_facts(self.browser), machine_problems()
        if own := read_variant_browsers(self.variants):
            environment["variant_browsers"] = own
            facts = facts | {f"browser of {name}": version for name, version in own.items()}
        if not problems:
            facts = facts | level_facts(self.pairs)
            environment |= read_measurements(self.pairs)
        return MachineDescription(facts, problems, environment)

    def measure_loads(self) -> list[tuple[float, float]]:
        """Implement `Questions.measure_loads`."""
        return slot_loads()


def cluster_driver(
    where: str,
    directory: Path,
    plan: Plan,
    sites: Sequence[RecordedSite],
    execution: Execution,
    *,
    allow_heterogeneous: bool,
    is_trusted: bool = False,
    report: Callable[[str], None],
) -> Driver:
    """Return the driver. Raises `ClusterError` if `where` is invalid or does not answer.

    `allow_heterogeneous`: admit machines that differ, as classes. `is_trusted`: the network is used
    by nobody else. `report`: called with a line for each event of a machine.
    """
    place = SchedulerChoice.of(where, is_trusted=is_trusted)
    check_reachable(
        place.address, lambda there: check_handshake(place.address, there, place.security)
    )
    check_can_listen(place)
    recordings = {
        key: Input(site.digest, str(site.path.resolve()))
        for key, site in key_recordings(sites, plan.variants).items()
    }
    traces = {digest: Input(digest, file) for digest, file in execution.trace_files.items()}
    work = BlockWork(str(uuid4()), recordings, traces, execution.retries, execution.host_wait_s)
    questions = PlanQuestions(plan.browser, list_level_pairs(plan), list_variant_browsers(plan))

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        fleet = read_fleet(directory, allow_heterogeneous=allow_heterogeneous)
        messages = [""]

        def record_and_report(line: str) -> None:
            messages.append(line)
            report(line)

        def admissions(submit: Submit) -> Admissions:
            return Admissions(submit, questions, fleet, directory, record_and_report)

        with connect(place, directory) as connection:
            there = connection.address if place.address else str(directory / SCHEDULER_FILE)
            presence = Presence(there, report)

            def observe(slots: Collection[str], refused: Collection[str]) -> None:
                accounts.elsewhere(len(slots), len(refused))
                if place.slots_here and refused:
                    raise LaterError(f"loading with --cluster {where}: {messages[-1]}")
                presence.see(slots, refused)

            slots = ClusterSlots(connection, work, accounts.start, admissions, observe)
            try:
                yield slots
            except BaseException:
                if not place.slots_here:  # slots on this machine end with this process
                    slots.break_off()
                raise

    return driver


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
        self._is_reported = False
        self._whole: set[str] = set()
        self._part_since_s: dict[str, float] = {}

    def see(self, slots: Collection[str], refused: Collection[str]) -> None:
        """Update the reports, given the present slots and the ids of refused machines."""
        self._see_parts(slots)
        machines = {SlotName.of(slot).machine for slot in slots}
        if machines - set(refused):
            self._alone_since_s, self._is_reported = self._now_s(), False
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
        if not self._is_reported:
            self._is_reported = True
            self._report(line)
