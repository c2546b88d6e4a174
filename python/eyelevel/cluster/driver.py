"""The slots of a cluster as a run's loop takes them."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import uuid4

from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import check_there
from eyelevel.cluster.presence import Presence
from eyelevel.cluster.scheduler import SCHEDULER_FILE, SchedulerChoice, check_can_listen, connected
from eyelevel.cluster.slots import ClusterSlots
from eyelevel.cluster.trust import check_handshake
from eyelevel.errors import LaterError
from eyelevel.plan.browser import Browser
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork
from eyelevel.run.level.measure import stacks_of
from eyelevel.run.machines.evidence import (
    level_facts,
    machine_facts,
    machine_problems,
    measured_environment,
    slot_loads,
)
from eyelevel.run.machines.files import read_fleet
from eyelevel.run.machines.fleet import Shown
from eyelevel.run.study.environment import describe
from eyelevel.run.study.loop import Driver, Execution, Interrupted
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.sites.recorded import RecordedSite

_described = cache(describe)


@dataclass(frozen=True)
class OfThisPlan:
    """What machines are asked before a plan's first block."""

    browser: Browser
    pairs: Sequence[tuple[Stack, Stack]]

    def shown(self) -> Shown:
        """As `Questions.shown`."""
        load = {"load_1min": os.getloadavg()[0]}  # before we make it busy
        environment = _described(self.browser) | load
        facts, problems = machine_facts(self.browser), machine_problems()
        if not problems:
            facts = facts | level_facts(self.pairs)
            environment |= measured_environment(self.pairs)
        return Shown(facts, problems, environment)

    def loads(self) -> list[tuple[float, float]]:
        """As `Questions.loads`."""
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
    told: Callable[[str], None],
) -> Driver:
    """Raises ClusterError for a place that cannot be read, or at which nobody is.

    `allow_heterogeneous`: machines that differ are admitted as classes. `is_trusted`: nobody else
    is on the network. `told`: called with a line for each event of a machine.
    """
    place = SchedulerChoice.of(where, is_trusted=is_trusted)
    check_there(place.address, lambda there: check_handshake(place.address, there, place.security))
    check_can_listen(place)
    recordings = {site.name: Input(site.digest, str(site.path.resolve())) for site in sites}
    traces = {digest: Input(digest, file) for digest, file in execution.trace_files.items()}
    work = BlockWork(str(uuid4()), recordings, traces, execution.retries, execution.host_wait_s)
    stacks = {stack.name: stack for stack in stacks_of(plan)}
    pairs = [(stacks[each.reference], stacks[each.stack]) for each in plan.comparisons]
    questions = OfThisPlan(plan.browser, pairs if plan.browser.is_chromium else [])

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        fleet = read_fleet(directory, allow_heterogeneous=allow_heterogeneous)
        said = [""]

        def heard(line: str) -> None:
            said.append(line)
            told(line)

        def admissions(submit: Submit) -> Admissions:
            return Admissions(submit, questions, fleet, directory, heard)

        with connected(place, directory) as connection:
            there = connection.address if place.address else str(directory / SCHEDULER_FILE)
            presence = Presence(there, told)

            def seen(slots: Collection[str], refused: Collection[str]) -> None:
                accounts.elsewhere(len(slots), len(refused))
                if place.slots_here and refused:
                    raise LaterError(f"loading with --cluster {where}: {said[-1]}")
                presence.see(slots, refused)

            slots = ClusterSlots(connection, work, accounts.start, admissions, seen)
            try:
                yield slots
            except BaseException:
                if not place.slots_here:  # those end with this process
                    slots.break_off()
                raise

    return driver
