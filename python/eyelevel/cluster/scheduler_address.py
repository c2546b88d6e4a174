"""Find a slot's scheduler, allow one worker per machine, and retry with growing pauses."""

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed.security import Security

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT
from eyelevel.base.from_outside.source import Source
from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.credentials import Credentials, check_own
from eyelevel.cluster.tls_settings import is_begun, read_security
from eyelevel.cluster.trust import read_trust

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
        self._said = ""
        self._pause_s = PAUSE_S_FIRST

    def pause_after(self, line: str, lasted_s: float = 0.0) -> float:
        """Return the pause after a connection that lasted `lasted_s`, both in seconds.

        `line` is the reason to report; "" if it was reported elsewhere.
        """
        if lasted_s >= LASTED_S:
            self._said, self._pause_s = "", PAUSE_S_FIRST
        if line and line != self._said:
            self._report(f"{line}; trying again")
        pause_s, self._said = self._pause_s, line
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
        self._said = ""
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
            if line != self._said:
                self._report(f"{line}; trying again")
            self._said = line
            return None
        self._said = ""
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
