"""Run a machine's slots (`eyelevel worker`): one process each, with a nanny that restarts it.

Find a slot's scheduler, allow one worker per machine, and retry with growing pauses.
"""

import asyncio
import os
import platform
import re
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from ssl import SSLError
from typing import Any

from distributed import Nanny, Worker
from distributed.security import Security

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT
from eyelevel.base.from_outside.source import Source
from eyelevel.cluster.connection import ClusterError, reach
from eyelevel.cluster.names import SlotName, machine_id
from eyelevel.cluster.settings import NO_HTTP_ADDRESS, OURS, configure
from eyelevel.cluster.tls_settings import is_begun, read_security
from eyelevel.cluster.trust import (
    Credentials,
    bracket_host,
    check_handshake,
    check_own,
    facing,
    read_trust,
)
from eyelevel.run.block.load import SLOT_VARIABLE
from eyelevel.run.machines.slot_cgroup import enter_group, group_variable, slot_group
from eyelevel.store.disk import temporary_folder

PAUSE_S_FIRST, PAUSE_S_MAX = 1.0, 30.0
"""First and longest pause, s. An attempt starts a process, perhaps while other slots load."""
LASTED_S = 60.0
"""Duration after which a connection counts as successful, s; pauses then start over."""

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d+")
_BARE_ADDRESS = re.compile(r"[^/\s]+:\d+")
"""An address without a scheme; as a file name it would be waited for forever."""

NAME_LENGTH_MAX = 107
"""Maximum length of a socket's name, bytes (unix(7))."""


class Backoff:
    """Growing pauses between one slot's connection attempts; a repeated reason is reported once."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._last_line = ""
        self._pause_s = PAUSE_S_FIRST

    def pause_after(self, line: str, lasted_s: float = 0.0) -> float:
        """Return the pause after a connection that lasted `lasted_s`, both in seconds.

        `line` is the reason to report; "" if it was reported elsewhere.
        """
        if lasted_s >= LASTED_S:
            self._last_line, self._pause_s = "", PAUSE_S_FIRST
        if line and line != self._last_line:
            self._report(f"{line}; trying again")
        pause_s, self._last_line = self._pause_s, line
        self._pause_s = min(2 * pause_s, PAUSE_S_MAX)
        return pause_s


@dataclass(frozen=True)
class Scheduler:
    """A scheduler's address, and the TLS settings for connecting to it."""

    address: str
    security: Security


class SchedulerAddress:
    """The address of the scheduler that a machine's slots connect to.

    It is given, or read from a run's `scheduler.json` at each attempt: a run that starts later, or
    after one that died, writes another address to it.
    """

    def __init__(
        self,
        where: str,
        machine: str,
        *,
        is_trusted: bool,
        credentials: Credentials | None = None,
        report: Callable[[str], None],
    ) -> None:
        """Parse `where`; `credentials` are those of a run that is given by address, if it has any.

        Raises `StoreError` for a file that is not a `scheduler.json`, and `ClusterError` for a
        malformed address, for unusable TLS settings, and as `_take` does.
        """
        self._where, self._machine, self._credentials = where, machine, credentials
        self._is_trusted, self._report = is_trusted, report
        self._last_line = ""
        if _BARE_ADDRESS.fullmatch(where) and not Path(where).exists():
            raise ClusterError(
                f"finding the scheduler {where}: there is no such file, and an address says how it "
                f"is spoken to; write tls://{where} or tcp://{where}"
            )
        if where.endswith(".toml"):
            raise ClusterError(
                f"finding the scheduler in {where}: it is a plan, which `eyelevel run` takes; give "
                "the scheduler.json of a run, or a scheduler's address"
            )
        self._taken: set[str] = set()
        self._held = ExitStack()
        if self.is_fixed or Path(where).exists():
            self._take(*self._read())
        elif is_begun("worker"):
            read_security("worker")

    @property
    def is_fixed(self) -> bool:
        """Whether it was given as an address, so that every attempt finds the same scheduler."""
        return _ADDRESS.fullmatch(self._where) is not None

    def locate(self) -> Scheduler | None:
        """Return the scheduler's current address.

        Returns None while it is unknown, which is reported once.
        """
        try:
            address, credentials = self._read()
            found = Scheduler(address, self._take(address, credentials))
        except (StoreError, ClusterError) as error:
            line = str(error)
            if not Path(self._where).exists():
                line = f"waiting for a run that writes {self._where}"
            if line != self._last_line:
                self._report(f"{line}; trying again")
            self._last_line = line
            return None
        self._last_line = ""
        return found

    def close(self) -> None:
        """Release the scheduler for other workers of this machine."""
        self._held.close()

    def _read(self) -> tuple[str, Credentials | None]:
        if self.is_fixed:
            return self._where, self._credentials
        file = Path(self._where)
        source = Source(str(file), DOCUMENT, StoreError)
        found = parse_object(read_bytes(file, source), source)
        address = found.get("address")
        if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
            raise StoreError(
                f"reading {file}: it has no scheduler's address; give the scheduler.json of a run, "
                "or an address such as tcp://10.0.0.7:8786"
            )
        credentials = Credentials.of_json(found.get("credentials"))
        if credentials is not None:
            check_own(file)
        return address, credentials

    def _take(self, address: str, credentials: Credentials | None) -> Security:
        """Become this machine's only worker of a scheduler; returns the TLS settings.

        Raises `ClusterError` as `read_trust` does, and if this machine already has a worker for it.
        """
        security = read_trust(
            address, "worker", is_trusted=self._is_trusted, credentials=credentials
        )
        if address not in self._taken:
            self._held.enter_context(only_worker(self._machine, address))
            self._taken.add(address)
        return security


@contextmanager
def only_worker(machine: str, address: str) -> Iterator[None]:
    """Hold the lock of this machine's only worker for a scheduler, until the process ends.

    Raises `ClusterError` if there is another one: its slots would have the same names and, unless
    cores are given, the same cores.
    """
    # An abstract socket: the kernel frees its name when the process ends.
    with socket.socket(socket.AF_UNIX) as name:
        try:
            name.bind(f"\0eyelevel-worker/{machine}/{address}"[:NAME_LENGTH_MAX])
        except OSError as error:
            raise ClusterError(
                f"starting slots for {address}: this machine already has an eyelevel worker for "
                "it; stop that one, or give one worker all slots with --slots"
            ) from error
        yield


CONNECT_S = 10.0
"""Time limit of one attempt to reach the scheduler, s; attempts are repeated."""


CORES_VARIABLE = "EYELEVEL_CORES"
"""Environment variable with a slot's cores; without it the slot uses all."""


class _SlotWorker(Worker):
    """A worker that stays on its cores and in its cgroup, with all its child processes."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if cores := os.environ.get(CORES_VARIABLE):
            # Set it for this thread: all other threads of the process inherit it.
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
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Run `count` slots for a scheduler until SIGTERM or SIGINT, or until standard input closes.

    `where`: the scheduler's address, or a run's file with it. `cores`: those of each slot; empty
    for all. `credentials`: of a run that is given by address. `while_open`: stop when standard
    input closes. Without a scheduler, or when it is lost, the slots retry. Raises `StoreError` for
    a file that is not a `scheduler.json`, and `ClusterError` for an address at which others could
    be, unless the network is trusted, if the machine already has a worker for that scheduler, and
    for certificates that the two sides will never accept.
    """
    configure()
    host = host or platform.node()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    if while_open:
        loop.add_reader(sys.stdin.fileno(), ended.set)  # nothing more is written to it
    machine = machine_id(host)
    scheduler = SchedulerAddress(
        where, machine, is_trusted=is_trusted, credentials=credentials, report=report
    )
    with closing(scheduler):
        slots = [
            asyncio.create_task(
                _slot(scheduler, SlotName(machine, host, number, count), own, ended, report)
            )
            for number, own in enumerate(cores or [frozenset()] * count, start=1)
        ]
        stop = asyncio.create_task(ended.wait())
        # A slot ends early only by an error, which affects all slots.
        await asyncio.wait((stop, *slots), return_when=asyncio.FIRST_COMPLETED)
        ended.set()
        await asyncio.gather(stop, *slots)


async def _slot(
    scheduler: SchedulerAddress,
    name: SlotName,
    cores: frozenset[int],
    ended: asyncio.Event,
    report: Callable[[str], None],
) -> None:
    placed = {
        SLOT_VARIABLE: f"{name.machine}/{name.number}",
        CORES_VARIABLE: ",".join(map(str, sorted(cores))),
    }
    # Dask writes temporary files, and leaves their folder behind.
    with slot_group(name.number) as group, temporary_folder("slot") as scratch:
        placed |= group_variable(group)
        await _serve_slot(scheduler, name, placed, scratch, ended, report)


async def _serve_slot(
    scheduler: SchedulerAddress,
    name: SlotName,
    placed: dict[str, str],
    scratch: Path,
    ended: asyncio.Event,
    report: Callable[[str], None],
) -> None:
    backoff = Backoff(report)

    async def wait_after(line: str, lasted_s: float = 0.0) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), backoff.pause_after(line, lasted_s))

    while not ended.is_set():
        began_s = time.monotonic()
        if (there := scheduler.locate()) is None:
            await wait_after("")
            continue
        try:
            host = facing(there.address)  # without it a slot listens on all interfaces
        except OSError as error:
            await wait_after(f"slot {name.number}: no way to {there.address} ({error})")
            continue
        nanny = Nanny(
            there.address,
            security=there.security,
            host=bracket_host(host),
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
            line = _explain_end(over, name, there.address)
            try:
                if _may_be_refused(over, there):
                    await asyncio.to_thread(_check_handshake, there)
            except ClusterError as error:
                if scheduler.is_fixed:
                    raise
                line = f"slot {name.number}: {error}"  # the next run may use other certificates
            await wait_after(line, lasted_s)


def _explain_end(over: "asyncio.Task[None]", name: SlotName, address: str) -> str:
    """Return why a nanny ended, as a line for the worker's user."""
    for error in _causes(over):
        if f"name taken, {name}" in str(error):
            return (
                f"slot {name.number}: {address} has a slot {name} already; if it is not this "
                "machine's own of a minute ago, another machine has the same /etc/machine-id and "
                "host name, so give one of them another host name"
            )
    return f"slot {name.number}: no scheduler at {address}, or it ended the slot"


def _may_be_refused(over: "asyncio.Task[None]", there: Scheduler) -> bool:
    """Return whether a nanny may have ended for a reason that recurs at every attempt."""
    # A TLS error can mean refusal or closing; without TLS nothing is known.
    is_plain = not there.security.require_encryption
    return is_plain or any(isinstance(each, SSLError) for each in _causes(over))


def _check_handshake(there: Scheduler) -> None:
    """Raise `ClusterError` if a TLS handshake with the scheduler can never succeed."""
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
