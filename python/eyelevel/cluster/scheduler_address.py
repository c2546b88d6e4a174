"""How slots reach their scheduler: where it is now, one worker a machine, and tries that become
rarer."""

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed.security import Security

from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.credentials import Credentials, check_own
from eyelevel.cluster.tls_settings import is_begun, read_security
from eyelevel.cluster.trust import read_trust
from eyelevel.errors import StoreError
from eyelevel.from_outside.files import read_bytes
from eyelevel.from_outside.json_text import parse_object
from eyelevel.from_outside.limits import DOCUMENT
from eyelevel.from_outside.source import Source

PAUSE_S_FIRST, PAUSE_S_MAX = 1.0, 30.0
"""A try starts a process, beside loads of others perhaps; a slot is back within the longest."""
LASTED_S = 60.0
"""What held so long was a slot, and what ended it is something new."""

_ADDRESS = re.compile(r"(tcp|tls)://\S+:\d+")
_BARE_ADDRESS = re.compile(r"[^/\s]+:\d+")
"""Which as a file's name would be waited for for ever."""

NAME_LENGTH_MAX = 107
"""Of a socket's name, in bytes (unix(7))."""


class Backoff:
    """Of one slot: when it tries again, and what it says of that, once as long as it holds."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._said = ""
        self._pause_s = PAUSE_S_FIRST

    def failed(self, line: str, lasted_s: float = 0.0) -> float:
        """Return how long to wait, in s, after a try that held for `lasted_s`; `line` says what
        was, and is empty if it was said elsewhere."""
        if lasted_s >= LASTED_S:
            self._said, self._pause_s = "", PAUSE_S_FIRST
        if line and line != self._said:
            self._told(f"{line}; trying again")
        pause_s, self._said = self._pause_s, line
        self._pause_s = min(2 * pause_s, PAUSE_S_MAX)
        return pause_s


@dataclass(frozen=True)
class Scheduler:
    """A scheduler, and what a worker needs in order to be heard by it."""

    address: str
    security: Security


class SchedulerAddress:
    """Of the scheduler that a machine's slots dial: an address, or what a run's `scheduler.json`
    says, which is read anew at each try. A run that begins later, or after one that died, has
    another address there.
    """

    def __init__(
        self,
        where: str,
        machine: str,
        *,
        is_trusted: bool,
        credentials: Credentials | None = None,
        told: Callable[[str], None],
    ) -> None:
        """`credentials`: of the run at an address, if it has some of its own.

        Raises StoreError for a file that is no such file, and ClusterError for what looks like an
        address and is none, for Dask's TLS settings that cannot be used, and as `_take`.
        """
        self._where, self._machine, self._credentials = where, machine, credentials
        self._is_trusted, self._told = is_trusted, told
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
        """Whether another try finds the same scheduler and nothing new about it."""
        return _ADDRESS.fullmatch(self._where) is not None

    def there(self) -> Scheduler | None:
        """Return where it is now; None while that is not known, which is told once."""
        try:
            address, credentials = self._read()
            found = Scheduler(address, self._take(address, credentials))
        except (StoreError, ClusterError) as error:
            line = str(error)
            if not Path(self._where).exists():
                line = f"waiting for a run that writes {self._where}"
            if line != self._said:
                self._told(f"{line}; trying again")
            self._said = line
            return None
        self._said = ""
        return found

    def close(self) -> None:
        """Other workers of this machine may have its scheduler."""
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
        """Be this machine's for it. Raises ClusterError as `read_trust`, and if another worker of
        this machine has slots for it."""
        security = read_trust(
            address, "worker", is_trusted=self._is_trusted, credentials=credentials
        )
        if address not in self._taken:
            self._held.enter_context(only_worker(self._machine, address))
            self._taken.add(address)
        return security


@contextmanager
def only_worker(machine: str, address: str) -> Iterator[None]:
    """Be the one that has this machine's slots for the scheduler at `address`, however it ends.

    Raises ClusterError if there is another: its slots have the same names and, unless they were
    told their cores, the same cores.
    """
    # A name without a file, which the kernel frees with its process.
    with socket.socket(socket.AF_UNIX) as name:
        try:
            name.bind(f"\0eyelevel-worker/{machine}/{address}"[:NAME_LENGTH_MAX])
        except OSError as error:
            raise ClusterError(
                f"starting slots for {address}: this machine already has an eyelevel worker for "
                "it; stop that one, or give one worker all slots with --slots"
            ) from error
        yield
