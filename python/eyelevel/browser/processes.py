"""Run a command in its own session: start, accounting, and termination of all its processes.

Chromium is a dozen processes. They share the session (`setsid`) of the first one, even across the
namespaces that a prefix like `eyelevel-lab enter` creates, so the session id finds them all in
`/proc`. A session is also a scheduling group of its own (autogroup).

Find a browser's executable, start it in its profile, and end all of its processes.

Private folders for the browsers of loads, removed after the load even if it was killed.

A lock on the folder marks its owner; the kernel releases it when the process ends, however it ends.
A process id would not do: ids are reused, and in another container that shares the folder the same
id is another process.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import logging
import os
import re
import secrets
import select
import shlex
import shutil
import signal
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from eyelevel.base.errors import BrowserStartError
from eyelevel.lab.confinement import (
    beside_the_system,
    confine,
    hand_over,
    is_unsafe,
    path_in_view,
)
from eyelevel.store.disk import lock_folder, remove_orphans

logger = logging.getLogger(__name__)

END_TIMEOUT_S = 5.0
"""Time limit for killed processes to disappear; they take a few milliseconds."""

EXIT_TIMEOUT_S = 0.5
"""Time limit for a process that closed its pipe to exit."""

ENTERED_EXIT_TIMEOUT_S = 3.0
"""Time limit for a killed browser to leave a lab: the kernel waits for an RCU grace period
before it releases watched files (inotify), 0.6 s on an idle machine.
"""

END_POLL_S = 0.002
"""Interval between two scans of `/proc` meanwhile."""

CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

LAST_WORDS_BYTES_MAX = 600
"""Maximum bytes of a process's output in a message."""


class ProcessSession:
    """The processes of one session; its first process is our child."""

    def __init__(self, leader_pid: int) -> None:
        self.leader_pid = leader_pid
        self._leader_fd = os.pidfd_open(leader_pid)
        self._exit_status: int | None = None

    @classmethod
    def start(
        cls, command: Sequence[str], descriptors: Mapping[int, int], environment: Mapping[str, str]
    ) -> ProcessSession:
        """Start `command` with `descriptors` (the child's number: ours) and no other open ones.

        Our descriptors must be above 4. Raises `OSError` if the program cannot be executed.
        """
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)
        ]
        actions += [
            (os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in sorted(descriptors.items())
        ]
        pid = os.posix_spawnp(
            command[0], list(command), dict(environment), file_actions=actions, setsid=True
        )
        logger.debug("started as process %d: %s", pid, shlex.join(command))
        return cls(pid)

    @property
    def exited(self) -> bool:
        """Whether the first process has ended."""
        if self._exit_status is None and _readable(self._leader_fd):
            _, self._exit_status = os.waitpid(self.leader_pid, 0)
        return self._exit_status is not None

    def exit_text(self) -> str:
        """Return the first process's exit status, for messages; waits briefly if it is exiting."""
        if self._leader_fd >= 0:
            select.select([self._leader_fd], [], [], EXIT_TIMEOUT_S)
        if not self.exited or self._exit_status is None:
            return "still running"
        code = os.waitstatus_to_exitcode(self._exit_status)
        return f"signal {-code}" if code < 0 else f"exit status {code}"

    def was_suspended(self) -> bool:
        """Return whether the first process was stopped by a signal since the last call.

        The kernel keeps that for the parent of the process.
        """
        kinds = os.WSTOPPED | os.WCONTINUED | os.WNOHANG
        with contextlib.suppress(ChildProcessError):
            return not self.exited and os.waitid(os.P_PID, self.leader_pid, kinds) is not None
        return False

    def cpu_s(self) -> float:
        """Return user and system time of live processes and waited-for children, seconds."""
        ticks = 0
        for pid in self._members():
            fields = _stat_fields(Path(f"/proc/{pid}"))
            # Fields 14 to 17 of proc(5): utime, stime, cutime, cstime; our list starts at field 3.
            ticks += sum(int(field) for field in fields[11:15]) if fields else 0
        return ticks / CLOCK_TICKS_PER_S

    def wait(self, timeout_s: float) -> bool:
        """Wait up to `timeout_s` for the first process to exit by itself.

        Returns whether it did.
        """
        if not self.exited:
            select.select([self._leader_fd], [], [], timeout_s)
        return self.exited

    def ask_to_end(self, timeout_s: float) -> None:
        """Send SIGTERM to the first process, and wait up to `timeout_s` for it."""
        if not self.exited:
            os.kill(self.leader_pid, signal.SIGTERM)
            select.select([self._leader_fd], [], [], timeout_s)

    def end(self, named: str, *, entered: bool = False) -> None:
        """Kill every process of the session and wait, within a limit, until none is left.

        `entered`: the first process is `eyelevel-lab enter`, which waits for the process that it
        put into a lab, and gets time for that. If it were killed first, a zombie of the lab's PID
        namespace would be left to the machine's init, and the lab would end only when that has
        reaped it, on some machines a second later.

        Chromium's crash handlers leave the session. So every process whose command line contains
        `named`, a word that only this session's processes can have, is killed, too.
        """
        deadline = time.monotonic() + END_TIMEOUT_S
        if entered and not self.exited:
            for pid in self._members():
                if pid != self.leader_pid:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
            select.select([self._leader_fd], [], [], ENTERED_EXIT_TIMEOUT_S)
        while True:
            members = self._members() + _with_argument(named)
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if (not members and self.exited) or time.monotonic() > deadline:
                break
            time.sleep(END_POLL_S)
        if self._leader_fd >= 0:
            os.close(self._leader_fd)
            self._leader_fd = -1

    def _members(self) -> list[int]:
        """Return the ids of the session's live processes, without zombies."""
        members = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                fields = _stat_fields(folder)
                if fields and int(fields[3]) == self.leader_pid and fields[0] not in ("Z", "X"):
                    members.append(int(folder.name))
        return members


def _last_words(log: Path) -> str:
    """Return the end of a process's output as one line, for messages; "" if there is none."""
    try:
        with log.open("rb") as file:
            # A hostile page can make it arbitrarily long.
            file.seek(-min(LAST_WORDS_BYTES_MAX, file.seek(0, os.SEEK_END)), os.SEEK_END)
            text = file.read(LAST_WORDS_BYTES_MAX)
    except OSError:
        return ""
    return " | ".join(text.decode(errors="replace").split("\n")).strip(" |")


def _end_by_name(word: str) -> None:
    """Kill all processes whose command line contains `word`, and wait until none is left."""
    deadline = time.monotonic() + END_TIMEOUT_S
    while (pids := _with_argument(word)) and time.monotonic() < deadline:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(END_POLL_S)


def _with_argument(word: str) -> list[int]:
    """Return the ids of processes whose command line contains `word`; a zombie's is empty."""
    pids = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if word.encode() in (folder / "cmdline").read_bytes():
                    pids.append(int(folder.name))
    return pids


def _stat_fields(folder: Path) -> list[str]:
    """Return the fields of `/proc/PID/stat` from the third (state) on.

    Returns [] if the process is gone.
    """
    try:
        text = (folder / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return []
    # The second field is the name in parentheses, which may contain parentheses and spaces.
    return text[text.rfind(")") + 2 :].split()


def _readable(descriptor: int) -> bool:
    return descriptor >= 0 and bool(select.select([descriptor], [], [], 0)[0])


def move_high(descriptor: int) -> int:
    """Move a descriptor above those that a child's are copied onto; close-on-exec is set."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return high


PROFILE_PREFIX = "eyelevel-browser-"
_PROCESS_TOKEN = secrets.token_hex(4)
_PROFILE = re.compile(PROFILE_PREFIX + r"[0-9]+-[0-9a-f]{8}-[a-z0-9_]{8}")


@contextlib.contextmanager
def new_profile() -> Iterator[Path]:
    """Create an empty profile folder, private to one load; removes those of dead processes.

    A signal can arrive between the start of a browser and our recording of it. So folders and
    browsers with this process's prefix are removed when this process exits at the latest.
    """
    parent = Path(tempfile.gettempdir())
    remove_orphans(parent, _PROFILE, end_users=lambda profile: _end_by_name(str(profile)))
    atexit.unregister(_remove_own)
    atexit.register(_remove_own)
    with lock_folder(parent, _own_prefix()) as profile:
        yield profile


def _own_prefix() -> str:
    return f"{PROFILE_PREFIX}{os.getpid()}-{_PROCESS_TOKEN}-"


def _remove_own() -> None:
    for profile in Path(tempfile.gettempdir()).glob(f"{_own_prefix()}*"):
        _end_by_name(str(profile))
        shutil.rmtree(profile, ignore_errors=True)


def find_program(name: str, package: str, candidates: Sequence[str], variable: str) -> str:
    """Return the path of the first existing candidate; the environment's `variable` overrides them.

    Raises `BrowserStartError` if there is none; `name` and the Debian `package` are for its
    message.
    """
    wanted = os.environ.get(variable)
    for candidate in (wanted,) if wanted else candidates:
        if executable := shutil.which(candidate):
            return executable
    looked_for = wanted or ", ".join(candidates)
    raise BrowserStartError(
        f"looked for a {name} ({looked_for}) and found none; "
        f"install it (Debian: apt-get install {package}) or set {variable}"
    )


def browser_environment(profile: Path) -> dict[str, str]:
    """Return a minimal environment: settings of the caller's shell must not affect a load."""
    return {
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        # Leftovers (caches, key files, shared memory) are removed with the profile or the confined
        # browser's own /tmp. Long profile paths exceed the limit for the path of Chromium's socket.
        "HOME": str(profile),
        "TMPDIR": str(profile) if is_unsafe() else "/tmp",
        # Without a bus address the browser would try to start one.
        "DBUS_SESSION_BUS_ADDRESS": "disabled:",
    }


PROFILE = "profile"
"""The browser's own subfolder of a load's folder. We keep the rest: if it belonged to the
browser, that could replace a file that we read or write as root with a link.
"""


class BrowserProgram(ABC):
    """A running, confined browser in a load's folder.

    A context manager: on exit every process of the browser is ended, whatever happened.
    """

    def __init__(self, folder: Path, prefix: Sequence[str], readable: Sequence[Path]) -> None:
        """Prepare the profile; `prefix` enters the lab, `readable` lists further paths to read."""
        self.folder = folder
        self.profile = folder / PROFILE
        self.profile.mkdir(mode=0o700, exist_ok=True)
        self.session: ProcessSession | None = None
        self._prefix = prefix
        self._readable = readable

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def _start(self) -> None:
        """Start the browser; raises `BrowserStartError`."""

    def close(self) -> None:
        """End the processes; safe to call twice."""
        if self.session is not None:
            entered = bool(self._prefix) or not is_unsafe()
            self.session.end(named=str(self.folder), entered=entered)
            self.session = None

    @property
    def log_path(self) -> Path:
        """Path of the file with the browser's standard output and error."""
        return self.folder / "browser.log"

    def log_tail(self) -> str:
        """Return the end of the browser's output as one line, for messages."""
        return _last_words(self.log_path)

    def _run(
        self, command: Sequence[str], pipes: Mapping[int, int], environment: Mapping[str, str]
    ) -> None:
        """Start `command` with `pipes` (the child's descriptor: ours), logging its output."""
        readable = (*beside_the_system(command[0]), *self._readable)
        descriptors = max(pipes, default=2) - 2
        prefix = confine(self._prefix, [self.profile], readable, descriptors)
        command = [*prefix, path_in_view(command[0]), *command[1:]]
        hand_over(self.profile)
        log = move_high(os.open(self.log_path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        try:
            self.session = ProcessSession.start(command, {**pipes, 1: log, 2: log}, environment)
        except OSError as error:
            raise BrowserStartError(
                f"starting {command[0]} failed: {error.strerror}; check that the program exists "
                "and may be executed"
            ) from error
        finally:
            os.close(log)
