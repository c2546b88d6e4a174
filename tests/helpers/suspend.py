"""Find the processes of a running load, and suspend one of them."""

import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from timeouts import TEST_TIMEOUT_S

SUSPEND_S = 0.25
"""A suspension that must be noticed: longer than 0.2 s, which is seen whenever it begins."""
POLL_S = 0.005
ESTABLISHED = "01"
OF_CHROMIUM = {
    "chromium (renderer)": "--type=renderer",
    "chromium (gpu-process)": "--type=gpu-process",
    "chromium (network.mojom.NetworkService)": "network.mojom.NetworkService",
}
"""Chromium's processes: the name in a record, and a part of the command line."""


def processes_below(pid: int) -> dict[int, list[str]]:
    """Return the living descendants of a process with their command lines."""
    parents, found = {}, {pid: [""]}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                parents[int(folder.name)] = state_and_parent(int(folder.name))[1]
    grown = True
    while grown:
        new = {child for child, parent in parents.items() if parent in found} - set(found)
        found |= {child: command_line(child) for child in new}
        grown = bool(new)
    del found[pid]
    return found


def command_line(pid: int) -> list[str]:
    """Return a process's words; a process that renames itself separates them by spaces."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").split()
    except OSError:
        return []


def lab_of(command: int) -> int | None:
    """The process 1 of the lab that a command has made, once it is there."""
    below = processes_below(command)
    labs = [pid for pid, words in below.items() if words[1:2] == ["up"]]
    parents = {pid for pid in labs if processes_below(pid)}
    return next(iter(set(labs) - parents), None) if parents else None


def until(found: Callable[[], int | None], command: int) -> int:
    """Wait until something is found; the command's process must not end before."""
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while (number := found()) is None:
        assert is_running(command) and time.monotonic() < deadline, "it does not come"
        select.select([], [], [], POLL_S)
    return number


def is_running(pid: int) -> bool:
    """Return whether it is there and has not ended."""
    try:
        return state_and_parent(pid)[0] not in "ZX"
    except OSError:
        return False


def state_and_parent(pid: int) -> tuple[str, int]:
    """Raises OSError of a process that is gone."""
    stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    state, parent, *_ = stat[stat.rfind(")") + 2 :].split()
    return state, int(parent)


def loading_lab(command: int, but: int | None = None) -> int:
    """Process 1 of the lab that the command has made, amid a load: a connection of its client's
    stands. `but`: not this one."""

    def found() -> int | None:
        lab = lab_of(command)
        return lab if lab not in (None, but) and has_connections(lab) else None

    return until(found, command)


def has_connections(pid: int) -> bool:
    """Return whether a connection over TCP, or a socket of UDP with a peer, is in its namespace."""
    for name in ("tcp", "tcp6", "udp", "udp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            # The lab's own resolver is asked by UDP on the loopback.
            if fields[3] == ESTABLISHED and not fields[2].startswith("0100007F"):
                return True
    return False


def of_kind(command: int, word: str) -> int:
    """A process below whose command line has the word: itself, not what has started it."""

    def found() -> int | None:
        below = processes_below(command)
        has_it = [pid for pid, words in below.items() if any(word in each for each in words)]
        last = (pid for pid in has_it if not set(has_it) & set(processes_below(pid)))
        return next(last, None)

    return until(found, command)


def suspend(pid: int, pause_s: float = SUSPEND_S) -> None:
    """Suspend a process for some time, and resume it."""
    os.kill(pid, signal.SIGSTOP)
    select.select([], [], [], pause_s)
    os.kill(pid, signal.SIGCONT)


def main_process(command: int, program: str) -> int:
    """Return a browser's main process: the program without the options of a child process."""

    def found() -> int | None:
        for pid, words in processes_below(command).items():
            of_others = any(word.startswith(("--type=", "-contentproc")) for word in words)
            if words and Path(words[0]).name == program and not of_others:
                return pid
        return None

    return until(found, command)
