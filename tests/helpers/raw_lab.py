"""Labs without Python's client: started by any user, stopped and looked into by root."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from background_process import background_process
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
# Sends as many datagrams as asked for a line; says when each round was sent.
SENDER = """
import socket, sys, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(int(line)):
        to.sendto(b"x" * 100, (sys.argv[1], 9))
    print(time.monotonic_ns(), flush=True)
"""


@contextmanager
def raw_lab(
    user: tuple[str, ...], delay_ms: float = 0.0, realtime: bool = False
) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    """A lab of this user's without a site: its process and its `ready` event."""
    stages = [{"stage": "delay", "delay_ms": delay_ms}]
    config = {"site": None, "stack": None, "path": {"down": stages, "up": stages}, "seed": 1}
    config |= {"realtime": realtime}
    binary = os.open(find_binary(), os.O_RDONLY)
    command = [*user, f"/proc/self/fd/{binary}", "up"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, pass_fds=(binary,), cwd="/", **pipes) as process:
        os.close(binary)
        try:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps(config).encode() + b"\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], TEST_TIMEOUT_S)[0]
            ready = json.loads(process.stdout.readline())
            assert ready["event"] == "ready", ready
            yield process, ready
        finally:
            process.kill()


@contextmanager
def inside(
    ready: dict[str, Any], script: str, *arguments: str, server: bool = False
) -> Iterator[subprocess.Popen[str]]:
    """A Python script on one side of the lab, from the first line that it prints on."""
    enter = [find_binary(), "enter", "--pid", str(ready["init_pid"])]
    enter += ["--server-tid", str(ready["server_tid"])] if server else []
    command = [*enter, "--", sys.executable, "-c", script, *arguments]
    with once_ready(command) as process:
        yield process


@contextmanager
def once_ready(command: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """A program from its line `ready` on; it is killed at the end."""
    with background_process(command) as (process, line):
        assert line == "ready"
        yield process


def send(process: subprocess.Popen[str], packets: int) -> int:
    """Let a `SENDER` send; when the last was sent, in ns."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{packets}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def summary_of(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Return the path's summary at the end of its lab."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    events = [json.loads(line) for line in process.stdout]
    (path,) = [event["path"] for event in events if event["event"] == "summary"]
    return path


@contextmanager
def stopped(ready: dict[str, Any]) -> Iterator[None]:
    """No thread of the lab has a processor meanwhile."""
    pid = ready["init_pid"]
    os.kill(pid, signal.SIGSTOP)
    try:
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while any(_state(task) not in "Tt" for task in Path(f"/proc/{pid}/task").iterdir()):
            assert time.monotonic() < deadline, "the lab does not stop"
            select.select([], [], [], 0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def _state(task: Path) -> str:
    return (task / "stat").read_text().rpartition(")")[2].split()[0]
