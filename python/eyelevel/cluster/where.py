"""Where a run's slots are: what `--cluster` names, and a scheduler there."""

import logging
import re
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dask
from distributed import Scheduler, SpecCluster
from distributed.security import Security

from eyelevel.cluster.connection import PORT_MAX, ClusterError, Connection
from eyelevel.cluster.settings import EXTENSIONS, configure
from eyelevel.cluster.trust import Protocol, bracketed, check_address, listening_protocol
from eyelevel.disk.folders import temporary_folder
from eyelevel.disk.whole import write_whole
from eyelevel.store.directory import json_bytes, refusals

SCHEDULER_FILE = "scheduler.json"
END_S = 20.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Where:
    """`local:N`, `listen:HOST:PORT`, or the address of a scheduler of Dask's."""

    slots_here: int = 0
    listen: tuple[str, int] | None = None
    address: str = ""
    protocol: Protocol = "tcp"
    """What a scheduler here speaks."""

    @classmethod
    def of(cls, text: str, *, is_trusted: bool = False) -> "Where":
        """Raises ClusterError for what is none of them, and for what others could reach or be,
        unless the network is trusted."""
        if found := re.fullmatch(r"local:([1-9]\d{0,3})", text):
            return cls(slots_here=int(found[1]), listen=(LOOPBACK, 0))
        listening = re.fullmatch(r"listen:(\[[0-9a-fA-F:.]+\]|[^:\[\]]+):(\d{1,5})", text)
        if listening and int(listening[2]) <= PORT_MAX:
            host = listening[1].strip("[]")
            protocol = listening_protocol(host, is_trusted=is_trusted)
            return cls(listen=(host, int(listening[2])), protocol=protocol)
        if found := re.fullmatch(r"(tcp|tls)://\S+:\d+", text):
            check_address(text, "client", is_trusted=is_trusted)
            return cls(address=text)
        raise ClusterError(
            f"reading --cluster {text}: write local:N, listen:HOST:PORT, or a scheduler's "
            "address such as tcp://10.0.0.7:8786"
        )


def check_can_listen(where: Where) -> None:
    """Raise ClusterError if no scheduler can be had here, before anything is written."""
    if where.listen is None:
        return
    host, port = where.listen
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as error:
        reason = (error.strerror or "").partition(" (")[0]
        raise ClusterError(
            f"listening at {bracketed(host)}:{port} for workers: {reason}; give an address of "
            "this machine and a free port"
        ) from error


@contextmanager
def connected(where: Where, directory: Path) -> Iterator[Connection]:
    """To the scheduler, which is here unless it has an address; with slots if they are to be here.
    The address of one here is in SCHEDULER_FILE of `directory` meanwhile.

    Raises ClusterError if nobody is at the address, or another run has it.
    """
    configure()
    if not where.slots_here:  # which would start their browsers with as many
        _make_room_for_connections()
    if where.listen is None:
        with Connection(where.address, directory) as connection:
            yield connection
        return
    host, port = where.listen
    file = directory / SCHEDULER_FILE
    security = Security(require_encryption=where.protocol == "tls")
    options = {
        "host": bracketed(host),
        "port": port,
        "protocol": f"{where.protocol}://",
        "security": security,
        "extensions": EXTENSIONS,
        "dashboard": False,
        # It has a port for one all the same, of all interfaces if it is not told.
        "dashboard_address": f"{LOOPBACK}:0",
    }
    with (
        # Dask's scheduler makes a folder for files that it never has, and leaves it.
        temporary_folder("scheduler") as scratch,
        dask.config.set({"temporary-directory": str(scratch)}),
        SpecCluster(
            {},
            {"cls": Scheduler, "options": options},
            security=security,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Connection(cluster.scheduler_address, directory) as connection,
    ):
        with refusals(file):
            write_whole(file, json_bytes({"address": cluster.scheduler_address}))
        try:
            with _slots_here(connection, where.slots_here):
                yield connection
        finally:
            file.unlink(missing_ok=True)


def _make_room_for_connections() -> None:
    """To as many slots as this process may open files for: each has about four, and one more while
    its answer is fetched."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _slots_here(connection: Connection, count: int) -> Iterator[None]:
    if not count:
        yield
        return
    command = [sys.executable, "-m", "eyelevel", "worker", connection.address]
    command += ["--slots", str(count)]
    # In a session of their own: a terminal's Ctrl-C is for the run to hear. Their input ends with
    # this process, however that ends.
    with subprocess.Popen(
        [*command, "--while-open"], stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        connection.slots_here = process
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
