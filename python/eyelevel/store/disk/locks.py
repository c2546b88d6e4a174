"""Lock files so that the kernel releases them however their owner ends, and find the owner."""

import fcntl
import os
import time
from pathlib import Path

LOCKS = Path("/proc/locks")
_SHOWN_CHARACTERS_MAX = 60
_CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_START_FIELD = 19
"""Index in `/proc/PID/stat`, counted after the name, of the process's start time in ticks."""


def lock(descriptor: int) -> bool | None:
    """Lock an open file or folder until it is closed; returns False if another process has it.

    Returns None if the disk has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def describe_owner(descriptor: int, locks: Path = LOCKS) -> str:
    """Describe the process that has locked an open file, as far as it can be found.

    Such as "process 12 since 14:05 (eyelevel run a.toml)". A process in another container has no id
    here.
    """
    pid = _owner(os.fstat(descriptor), locks)
    if pid is None:
        return "another process"
    said = f"process {pid}"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        started_s = float(fields[_START_FIELD]) / _CLOCK_TICKS_PER_S
    except (OSError, ValueError, IndexError):
        return said
    running_s = time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() - running_s))
    # Users know `python .venv/bin/eyelevel run` as `eyelevel run`.
    names = [word.decode(errors="replace") for word in words]
    called = next((n for n, name in enumerate(names) if Path(name).name == "eyelevel"), 0)
    command = " ".join([Path(names[called]).name, *names[called + 1 :]])
    shown = "".join(sign if sign.isprintable() else "?" for sign in command)
    return f"{said} since {since} ({shown[:_SHOWN_CHARACTERS_MAX]})"


def _owner(status: os.stat_result, locks: Path) -> int | None:
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    try:
        lines = locks.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        # "1: FLOCK  ADVISORY  WRITE 12 00:2d:34 0 EOF"; waiters have "->" after the number.
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == f"{device}:{status.st_ino}":
            return int(fields[4]) if int(fields[4]) > 0 else None
    return None
