"""`eyelevel worker`: a machine's slots, each a process with a nanny that begins it again."""

import asyncio
import platform
import signal
import sys
from collections.abc import Callable

from distributed import Nanny

from eyelevel.cluster.settings import OURS, configure

CONNECT_S = 10.0
"""How long one try to reach the scheduler takes; it is tried again and again."""


def slot_name(machine: str, number: int) -> str:
    """A slot's name: unique, and telling its machine."""
    return f"{machine}/{number}"


def machine_of(slot: str) -> str:
    """The machine of a slot's name."""
    return slot.rpartition("/")[0]


async def run_slots(
    address: str,
    count: int,
    *,
    machine: str = "",
    while_open: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> None:
    """Have `count` slots for the scheduler at `address` until SIGTERM or SIGINT, or, with
    `while_open`, until standard input ends.

    Where the scheduler is not there, or goes, they dial again.
    """
    configure()
    machine = machine or platform.node()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if while_open:
        loop.add_reader(sys.stdin.fileno(), ended.set)  # nothing is written to it
    slots = [
        asyncio.create_task(_slot(address, slot_name(machine, number), ended, told))
        for number in range(1, count + 1)
    ]
    await ended.wait()
    await asyncio.gather(*slots)


async def _slot(address: str, name: str, ended: asyncio.Event, told: Callable[[str], None]) -> None:
    while not ended.is_set():
        nanny = Nanny(
            address,
            nthreads=1,
            name=name,
            memory_limit=0,
            dashboard=False,
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
            told(f"{name}: nobody at {address}; trying again")


async def _until_over(nanny: Nanny) -> None:
    async with nanny:
        await nanny.finished()
