"""Find a browser's executable, start it in its profile, and end all of its processes."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.processes import ProcessSession, last_words, move_high
from eyelevel.lab.confinement import (
    beside_the_system,
    confine,
    hand_over,
    is_unsafe,
    where_it_is_seen,
)


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
        return last_words(self.log_path)

    def _run(
        self, command: Sequence[str], pipes: Mapping[int, int], environment: Mapping[str, str]
    ) -> None:
        """Start `command` with `pipes` (the child's descriptor: ours), logging its output."""
        readable = (*beside_the_system(command[0]), *self._readable)
        descriptors = max(pipes, default=2) - 2
        prefix = confine(self._prefix, [self.profile], readable, descriptors)
        command = [*prefix, where_it_is_seen(command[0]), *command[1:]]
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
