"""The command at the far end of a path: started first, ended afterwards."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from eyelevel.cli.output import complain

LISTEN_TIMEOUT_S = 1.0
"""A server listens within milliseconds; a command that never does costs this once."""

END_TIMEOUT_S = 2.0
"""Between the request to end and the end of the lab, which nothing survives."""

_POLL_S = 0.005
_TCP_LISTEN = "0A"


@contextmanager
def far_command(
    command: str | None, prefix: Sequence[str], environment: Mapping[str, str]
) -> Iterator[None]:
    """Run `command` by `sh -c` at the far end while the block runs; without one, nothing.

    The block begins when something listens there, or the command ended, or after LISTEN_TIMEOUT_S.
    What it prints goes to standard error, so that CMD's own output can be piped on.
    """
    if command is None:
        yield
        return
    # A session of its own: Ctrl-C is for the near command; this one ends with the path.
    process = subprocess.Popen(
        [*prefix, "/bin/sh", "-c", command],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno(),
        start_new_session=True,
    )
    try:
        _await_listener(process)
        if status := process.poll():
            complain(f"the far command `{command}` ended at once with status {status}")
        yield
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command itself, so that what entered the lab for it reaps it and ends, too.

    Were that one ended first, the command would become the child of a process outside, which may
    reap late, and the lab cannot end before all inside it are reaped.
    """
    for number in (signal.SIGTERM, signal.SIGKILL):
        for child in _children(process.pid) or [process.pid]:
            with suppress(ProcessLookupError):
                os.kill(child, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=END_TIMEOUT_S)
            return
    process.kill()
    process.wait()


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _await_listener(process: subprocess.Popen[bytes]) -> None:
    outside = Path("/proc/self/ns/net").readlink()
    deadline = time.monotonic() + LISTEN_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        if _listens(Path(f"/proc/{process.pid}"), outside):
            return
        time.sleep(_POLL_S)


def _listens(entered: Path, outside: Path) -> bool:
    """Whether a TCP socket listens or a UDP socket is bound where the process stands by now."""
    try:
        if (entered / "ns/net").readlink() == outside:
            return False
        tables = {
            name: (entered / "net" / name).read_text().splitlines()[1:]
            for name in ("tcp", "tcp6", "udp", "udp6")
            if (entered / "net" / name).exists()
        }
    except OSError:
        return False
    tcp = any(
        line.split()[3] == _TCP_LISTEN for name in ("tcp", "tcp6") for line in tables.get(name, ())
    )
    return tcp or any(tables.get(name) for name in ("udp", "udp6"))
