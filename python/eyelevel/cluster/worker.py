"""`eyelevel worker`: a machine's slots, each a process with a nanny that begins it again."""

import asyncio
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from distributed import Nanny, Worker

from eyelevel.cluster.dialling import Dialling, Whereabouts
from eyelevel.cluster.names import SlotName, machine_id
from eyelevel.cluster.settings import NO_HTTP_ADDRESS, OURS, configure
from eyelevel.cluster.trust import bracketed, facing
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
    while_open: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Have `count` slots for the scheduler at an address, or in a run's file, until SIGTERM or
    SIGINT, or, with `while_open`, until standard input ends.

    `cores`: of each slot; without any they roam.
    Where the scheduler is not there, or goes, they dial again. Raises StoreError for a file that is
    another's, ClusterError for an address at which others could be, unless the network is trusted,
    and if the machine has a worker for that scheduler already.
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
    with closing(Whereabouts(where, machine, is_trusted=is_trusted, told=told)) as whereabouts:
        slots = [
            asyncio.create_task(
                _slot(whereabouts, SlotName(machine, host, number, count), own, ended, told)
            )
            for number, own in enumerate(cores or [frozenset()] * count, start=1)
        ]
        await ended.wait()
        await asyncio.gather(*slots)


async def _slot(
    whereabouts: Whereabouts,
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
        await _served(whereabouts, name, placed, scratch, ended, told)


async def _served(
    whereabouts: Whereabouts,
    name: SlotName,
    placed: dict[str, str],
    scratch: Path,
    ended: asyncio.Event,
    told: Callable[[str], None],
) -> None:
    dialling = Dialling(told)

    async def failed(line: str, lasted_s: float = 0.0) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), dialling.failed(line, lasted_s))

    while not ended.is_set():
        began_s = time.monotonic()
        if (address := whereabouts.address()) is None:
            await failed("")
            continue
        try:
            host = facing(address)  # without it a slot listens on all that the machine has
        except OSError as error:
            await failed(f"slot {name.number}: no way to {address} ({error})")
            continue
        nanny = Nanny(
            address,
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
            line = _why_over(over, name, address)
            await failed(line, time.monotonic() - began_s)


def _why_over(over: "asyncio.Task[None]", name: SlotName, address: str) -> str:
    """Of a nanny that is over, for whoever reads what the machine says."""
    error = over.exception()
    while error is not None:
        if f"name taken, {name}" in str(error):
            return (
                f"slot {name.number}: {address} has a slot {name} already; if it is not this "
                "machine's own of a minute ago, another machine has the same /etc/machine-id and "
                "host name, so give one of them another host name"
            )
        error = error.__cause__
    return f"slot {name.number}: no scheduler at {address}, or it ended the slot"


async def _until_over(nanny: Nanny) -> None:
    async with nanny:
        await nanny.finished()
