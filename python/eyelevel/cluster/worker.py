"""`eyelevel worker`: a machine's slots, each a process with a nanny that begins it again."""

import asyncio
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from ssl import SSLError
from typing import Any

from distributed import Nanny, Worker

from eyelevel.cluster.connection import ClusterError, reach
from eyelevel.cluster.credentials import Credentials
from eyelevel.cluster.names import SlotName, machine_id
from eyelevel.cluster.scheduler_address import Backoff, Scheduler, SchedulerAddress
from eyelevel.cluster.settings import NO_HTTP_ADDRESS, OURS, configure
from eyelevel.cluster.trust import bracketed, check_handshake, facing
from eyelevel.disk.folders import temporary_folder
from eyelevel.run.block.load import SLOT_VARIABLE
from eyelevel.run.machines.slot_cgroup import enter_group, group_variable, slot_group

CONNECT_S = 10.0
"""How long one try to reach the scheduler takes; it is tried again and again."""


CORES_VARIABLE = "EYELEVEL_CORES"
"""Those that a slot's process keeps to; it roams if there are none."""


class _SlotWorker(Worker):
    """One that keeps to its cores and its cgroup, with all that it starts."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if cores := os.environ.get(CORES_VARIABLE):
            # Of this thread, from which all others of the process come.
            os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
        enter_group()
        super().__init__(*arguments, **options)


async def run_slots(
    where: str,
    count: int,
    *,
    cores: Sequence[frozenset[int]] = (),
    host: str = "",
    is_trusted: bool = False,
    credentials: Credentials | None = None,
    while_open: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Have `count` slots for the scheduler at an address, or in a run's file, until SIGTERM or
    SIGINT, or, with `while_open`, until standard input ends.

    `cores`: of each slot; without any they roam. `credentials`: of a run at an address.
    Where the scheduler is not there, or goes, they dial again. Raises StoreError for a file that is
    another's, ClusterError for an address at which others could be, unless the network is trusted,
    if the machine has a worker for that scheduler already, and for certificates that it and the
    scheduler will never accept of each other.
    """
    configure()
    host = host or platform.node()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if while_open:
        loop.add_reader(sys.stdin.fileno(), ended.set)  # nothing is written to it
    machine = machine_id(host)
    scheduler = SchedulerAddress(
        where, machine, is_trusted=is_trusted, credentials=credentials, told=told
    )
    with closing(scheduler):
        slots = [
            asyncio.create_task(
                _slot(scheduler, SlotName(machine, host, number, count), own, ended, told)
            )
            for number, own in enumerate(cores or [frozenset()] * count, start=1)
        ]
        stop = asyncio.create_task(ended.wait())
        # A slot is over before the end only by an error, which is of all of them.
        await asyncio.wait((stop, *slots), return_when=asyncio.FIRST_COMPLETED)
        ended.set()
        await asyncio.gather(stop, *slots)


async def _slot(
    scheduler: SchedulerAddress,
    name: SlotName,
    cores: frozenset[int],
    ended: asyncio.Event,
    told: Callable[[str], None],
) -> None:
    placed = {
        SLOT_VARIABLE: f"{name.machine}/{name.number}",
        CORES_VARIABLE: ",".join(map(str, sorted(cores))),
    }
    # Dask keeps files of its own, and leaves the folder that they were in.
    with slot_group(name.number) as group, temporary_folder("slot") as scratch:
        placed |= group_variable(group)
        await _served(scheduler, name, placed, scratch, ended, told)


async def _served(
    scheduler: SchedulerAddress,
    name: SlotName,
    placed: dict[str, str],
    scratch: Path,
    ended: asyncio.Event,
    told: Callable[[str], None],
) -> None:
    backoff = Backoff(told)

    async def failed(line: str, lasted_s: float = 0.0) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), backoff.failed(line, lasted_s))

    while not ended.is_set():
        began_s = time.monotonic()
        if (there := scheduler.there()) is None:
            await failed("")
            continue
        try:
            host = facing(there.address)  # without it a slot listens on all that the machine has
        except OSError as error:
            await failed(f"slot {name.number}: no way to {there.address} ({error})")
            continue
        nanny = Nanny(
            there.address,
            security=there.security,
            host=bracketed(host),
            nthreads=1,
            name=str(name),
            env=placed,
            worker_class=_SlotWorker,
            memory_limit=0,
            local_directory=str(scratch),
            dashboard=False,
            dashboard_address=NO_HTTP_ADDRESS,
            death_timeout=CONNECT_S,
            config=dict(OURS),
        )
        over = asyncio.create_task(_until_over(nanny))
        stop = asyncio.create_task(ended.wait())
        await asyncio.wait((over, stop), return_when=asyncio.FIRST_COMPLETED)
        if ended.is_set():
            await nanny.close(timeout=2)
        stop.cancel()
        await asyncio.gather(over, stop, return_exceptions=True)
        if not ended.is_set():
            lasted_s = time.monotonic() - began_s
            line = _why_over(over, name, there.address)
            try:
                if _may_be_refused(over, there):
                    await asyncio.to_thread(_check_heard, there)
            except ClusterError as error:
                if scheduler.is_fixed:
                    raise
                line = f"slot {name.number}: {error}"  # the next run may have other certificates
            await failed(line, lasted_s)


def _why_over(over: "asyncio.Task[None]", name: SlotName, address: str) -> str:
    """Of a nanny that is over, for whoever reads what the machine says."""
    for error in _causes(over):
        if f"name taken, {name}" in str(error):
            return (
                f"slot {name.number}: {address} has a slot {name} already; if it is not this "
                "machine's own of a minute ago, another machine has the same /etc/machine-id and "
                "host name, so give one of them another host name"
            )
    return f"slot {name.number}: no scheduler at {address}, or it ended the slot"


def _may_be_refused(over: "asyncio.Task[None]", there: Scheduler) -> bool:
    """Return whether a nanny's end can be one that each further try has, too."""
    # An error of TLS can be a refusal or an end, and of a connection without TLS nothing is known.
    is_plain = not there.security.require_encryption
    return is_plain or any(isinstance(each, SSLError) for each in _causes(over))


def _check_heard(there: Scheduler) -> None:
    """Raise ClusterError if a scheduler and this machine refuse each other at every try."""
    met = partial(check_handshake, there.address, security=there.security, role="worker")
    try:
        reach(there.address, met)
    except OSError:
        return


def _causes(over: "asyncio.Task[None]") -> Iterator[BaseException]:
    error = over.exception()
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


async def _until_over(nanny: Nanny) -> None:
    async with nanny:
        await nanny.finished()
