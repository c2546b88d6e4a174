"""Parse `--cluster`, and start or reach the scheduler that it names."""

import json
import logging
import re
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import dask
from distributed import Scheduler, SpecCluster
from distributed.security import Security

from eyelevel.cluster.connection import PORT_MAX, ClusterError, Connection
from eyelevel.cluster.settings import EXTENSIONS, configure
from eyelevel.cluster.tls_settings import read_security, without_tls
from eyelevel.cluster.trust import (
    Credentials,
    Protection,
    bracket_host,
    check_private,
    listening_protection,
    read_trust,
)
from eyelevel.store.directory import json_bytes, refusals
from eyelevel.store.disk import temporary_folder, write_whole

SCHEDULER_FILE = "scheduler.json"
END_S = 20.0
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class SchedulerChoice:
    """A value of `--cluster`: `local:N`, `listen:HOST:PORT`, or a Dask scheduler's address."""

    slots_here: int = 0
    listen: tuple[str, int] | None = None
    address: str = ""
    protection: Protection = "own"
    """The protection of a scheduler on this machine."""
    security: Security = field(default_factory=without_tls, compare=False)
    """TLS settings for connecting to `address`."""

    @classmethod
    def of(cls, text: str, *, is_trusted: bool = False) -> "SchedulerChoice":
        """Parse the option.

        Raises `ClusterError` for an invalid value, for an address that others could reach or
        impersonate unless the network is trusted, and for unusable TLS settings.
        """
        if found := re.fullmatch(r"local:([1-9]\d{0,3})", text):
            return cls(slots_here=int(found[1]), listen=(LOOPBACK, 0))
        listening = re.fullmatch(r"listen:(\[[0-9a-fA-F:.]+\]|[^:\[\]]+):(\d{1,5})", text)
        if listening and int(listening[2]) <= PORT_MAX:
            host = listening[1].strip("[]")
            protection = listening_protection(host, is_trusted=is_trusted)
            return cls(listen=(host, int(listening[2])), protection=protection)
        if found := re.fullmatch(r"(tcp|tls)://\S+:\d+", text):
            return cls(address=text, security=read_trust(text, "client", is_trusted=is_trusted))
        raise ClusterError(
            f"reading --cluster {text}: write local:N, listen:HOST:PORT, or a scheduler's "
            "address such as tls://10.0.0.7:8786"
        )


def check_can_listen(where: SchedulerChoice) -> None:
    """Raise `ClusterError` if no scheduler can listen here, before anything is written."""
    if where.listen is None:
        return
    host, port = where.listen
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(address[:2], family=family).close()
    except OSError as error:
        reason = (error.strerror or "").partition(" (")[0]
        raise ClusterError(
            f"listening at {bracket_host(host)}:{port} for workers: {reason}; give an address of "
            "this machine and a free port"
        ) from error


@contextmanager
def connect(where: SchedulerChoice, directory: Path) -> Iterator[Connection]:
    """Connect to the scheduler, starting it (and this machine's slots) if the choice says so.

    While a scheduler started here waits for workers, SCHEDULER_FILE in `directory` has its address.
    Raises `ClusterError` if nothing listens at the address, or another run uses it.
    """
    configure()
    if not where.slots_here:  # local slots would pass the limit on to their browsers
        _raise_open_file_limit()
    if where.listen is None:
        with Connection(where.address, directory, where.security) as connection:
            yield connection
        return
    host, port = where.listen
    credentials = Credentials.new() if where.protection == "own" else None
    security = _security_here(where.protection, credentials)
    options = {
        "host": bracket_host(host),
        "port": port,
        "protocol": "tls://" if security.require_encryption else "tcp://",
        "security": security,
        "extensions": EXTENSIONS,
        "dashboard": False,
        # Even without a dashboard it opens an HTTP port, by default on all interfaces.
        "dashboard_address": f"{LOOPBACK}:0",
    }
    with (
        # Dask's scheduler creates a folder that it does not use, and leaves it behind.
        temporary_folder("scheduler") as scratch,
        dask.config.set({"temporary-directory": str(scratch)}),
        SpecCluster(
            {},
            {"cls": Scheduler, "options": options},
            security=security,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Connection(cluster.scheduler_address, directory, security) as connection,
    ):
        if where.slots_here:
            with _slots_here(connection, where.slots_here, credentials):
                yield connection
            return
        with _announce(cluster.scheduler_address, credentials, directory / SCHEDULER_FILE):
            yield connection


def _security_here(protection: Protection, credentials: Credentials | None) -> Security:
    if credentials is not None:
        return credentials.security()
    return without_tls() if protection == "none" else read_security("scheduler", "client")


@contextmanager
def _announce(address: str, credentials: Credentials | None, file: Path) -> Iterator[None]:
    """Write a file with the scheduler's address and its workers' credentials; removed on exit."""
    content: dict[str, object] = {"address": address}
    if credentials is not None:
        content["credentials"] = credentials.as_json()
    try:
        with refusals(file):
            write_whole(file, json_bytes(content), mode=0o666 if credentials is None else 0o600)
        if credentials is not None:
            check_private(file)
        yield
    finally:
        file.unlink(missing_ok=True)


def _raise_open_file_limit() -> None:
    """Raise this process's soft limit of open files to the hard limit.

    Each slot takes about four, and one more while its result is fetched.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def _slots_here(
    connection: Connection, count: int, credentials: Credentials | None
) -> Iterator[None]:
    command = [sys.executable, "-m", "eyelevel", "worker", connection.address]
    command += ["--slots", str(count)]
    # In a session of their own: a terminal's Ctrl-C is for the run only. They read the
    # credentials from standard input, not a file; it closes when this process ends in any way.
    with subprocess.Popen(
        [*command, "--while-open"], stdin=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdin is not None and credentials is not None
        with suppress(BrokenPipeError):  # it has ended, which `connection` detects
            process.stdin.write(json.dumps(credentials.as_json()).encode() + b"\n")
            process.stdin.flush()
        connection.slots_here = process
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
