"""Run a server of the user's for as long as its page is recorded or loaded."""

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.plan.variants import is_loopback

START_TIMEOUT_S = 60.0
"""Time limit for a server to start, including a build, s."""
STOP_TIMEOUT_S = 5.0
"""Time limit for a server to exit after SIGTERM, s."""
POLL_S = 0.05
TAIL_BYTES = 4096
_ERROR = re.compile(r"^\w*Error\b|^error\b|\w*Error: ")
"""Lines of Python, Node and shells that give a reason; npm's stands behind words of its own."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ServedCommandError(ExpectedError):
    """A server for a recording or for loads could not be started, or ended by itself."""


@contextmanager
def serve_command(command: str, url: str, timeout_s: float = START_TIMEOUT_S) -> Iterator[None]:
    """Run a server for the duration of the block, which is entered once it accepts connections.

    The command is split into words like in a shell, but run without one. It gets the URL's port as
    PORT and its own process group, all of which is ended. Raises `ServedCommandError`.
    """
    place = _place_of(url)
    if accepts(place):
        raise ServedCommandError(
            f"--serve: {place[0]}:{place[1]} already accepts connections, so `{command}` could not "
            "be what is recorded; stop what runs there, or leave out --serve"
        )
    with run_server("--serve", lambda: shlex.split(command), command, place, timeout_s):
        yield


@dataclass(frozen=True)
class Served:
    """A running server: its session, to which all processes of it belong, and its end."""

    session: int
    find_end: Callable[[], str]
    """Returns a sentence once the server's first process ended; empty before."""


@contextmanager
def run_server(
    subject: str,
    words: Callable[[], Sequence[str]],
    command: str,
    place: tuple[str, int],
    timeout_s: float = START_TIMEOUT_S,
) -> Iterator[Served]:
    """Run a command that serves at `place` for the duration of the block.

    `subject` and `command` name it in messages. Raises `ServedCommandError`.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                list(words()),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PORT": str(place[1])},
                start_new_session=True,
            )
        except (OSError, ValueError, IndexError) as error:
            raise ServedCommandError(
                f"{subject}: `{command}` did not start: {error}; give a command as in a terminal"
            ) from error

        def find_end() -> str:
            if process.poll() is None:
                return ""
            return (
                f"{subject}: `{command}` ended with status {process.returncode} during the loads; "
                f"mend it, then give the same command with --resume{_excerpt(output.fileno())}"
            )

        try:
            named = f"{subject}: `{command}`"
            _wait_until_listening(process, named, place, timeout_s, output.fileno())
            yield Served(process.pid, find_end)
        finally:
            _end(process)


def _place_of(url: str) -> tuple[str, int]:
    """Return the host and port of a page on this machine."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if not is_loopback(host):
        raise ServedCommandError(
            f"--serve: {url} is not on this machine; give the URL at which the command serves, "
            "such as http://localhost:3000/, or record it without --serve"
        )
    return host, parts.port or _DEFAULT_PORTS[parts.scheme]


def accepts(place: tuple[str, int]) -> bool:
    """Return whether something accepts connections at a host and port of this machine."""
    host, port = place
    # A name below `localhost` is loopback by RFC 6761, whatever the resolver returns.
    host = "localhost" if host.endswith(".localhost") else host
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        return True
    return False


def _wait_until_listening(
    process: subprocess.Popen[bytes],
    named: str,
    place: tuple[str, int],
    timeout_s: float,
    output: int,
) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not accepts(place):
        if process.poll() is not None:
            raise ServedCommandError(
                f"{named} ended with status {process.returncode} before it listened "
                f"on port {place[1]}; check the command in a terminal{_excerpt(output)}"
            )
        if time.monotonic() > deadline_s:
            raise ServedCommandError(
                f"{named} did not listen on {place[0]}:{place[1]} within "
                f"{timeout_s:.0f} s; give the URL at which it serves{_excerpt(output)}"
            )
        time.sleep(POLL_S)


def _excerpt(output: int) -> str:
    """Return the command's last error line, or its last line, to append to a message."""
    size = os.fstat(output).st_size
    printed = os.pread(output, TAIL_BYTES, max(0, size - TAIL_BYTES)).decode(errors="replace")
    lines = [line.strip() for line in printed.split("\n") if line.strip()]
    errors = [line for line in lines if _ERROR.search(line)]
    last = (errors or lines or [""])[-1]
    return f"; it printed: {escape_control_characters(last[:200])}" if last else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command's process group, also what its first process has left behind."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_S)
