"""The driver that runs a study's loop on the slots of a cluster."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from eyelevel.base.errors import LaterError
from eyelevel.calibration.measuring.measure import stacks_of
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import check_reachable
from eyelevel.cluster.presence import Presence
from eyelevel.cluster.scheduler import SCHEDULER_FILE, SchedulerChoice, check_can_listen, connect
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.cluster.trust import check_handshake
from eyelevel.plan.browser import Browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import are_variants
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.machines.evidence import (
    level_facts,
    machine_facts,
    machine_problems,
    read_measurements,
    slot_loads,
)
from eyelevel.run.machines.files import read_fleet
from eyelevel.run.machines.fleet import MachineDescription
from eyelevel.run.study.environment import describe
from eyelevel.run.study.loop import Driver, Execution, Interrupted
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.sites.recorded import RecordedSite, key_recordings

_described = cache(describe)


@dataclass(frozen=True)
class PlanQuestions:
    """Questions to machines before the first block of a plan; runs on the machine."""

    browser: Browser
    pairs: Sequence[tuple[Stack, Stack]]

    def describe_machine(self) -> MachineDescription:
        """Implement `Questions.describe_machine`."""
        load = {"load_1min": os.getloadavg()[0]}  # before our own loads
        environment = _described(self.browser) | load
        facts, problems = machine_facts(self.browser), machine_problems()
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
    stacks = {stack.name: stack for stack in stacks_of(plan)}
    pairs = [
        (stacks[each.reference], stacks[each.stack])
        for each in plan.comparisons
        if not are_variants(each)
    ]
    questions = PlanQuestions(plan.browser, pairs if plan.browser.is_chromium else [])

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        fleet = read_fleet(directory, allow_heterogeneous=allow_heterogeneous)
        said = [""]

        def record_and_report(line: str) -> None:
            said.append(line)
            report(line)

        def admissions(submit: Submit) -> Admissions:
            return Admissions(submit, questions, fleet, directory, record_and_report)

        with connect(place, directory) as connection:
            there = connection.address if place.address else str(directory / SCHEDULER_FILE)
            presence = Presence(there, report)

            def observe(slots: Collection[str], refused: Collection[str]) -> None:
                accounts.elsewhere(len(slots), len(refused))
                if place.slots_here and refused:
                    raise LaterError(f"loading with --cluster {where}: {said[-1]}")
                presence.see(slots, refused)

            slots = ClusterSlots(connection, work, accounts.start, admissions, observe)
            try:
                yield slots
            except BaseException:
                if not place.slots_here:  # slots on this machine end with this process
                    slots.break_off()
                raise

    return driver
