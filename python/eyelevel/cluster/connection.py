"""A run's connection to a scheduler: exclusive use, heartbeats, and reconnecting."""

import os
import platform
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from distributed import Client
from distributed.comm.addressing import parse_host_port
from distributed.security import Security

from eyelevel.base.errors import ExpectedError, LaterError

CONNECT_S = 10.0
PORT_MAX = 65535
RETRY_S = 2.0
WITHOUT_S_MAX = 600.0
"""Seconds for which a run waits for a lost scheduler to return."""
BEAT_S = 3.0
SILENCE_S = 4 * BEAT_S
"""Seconds without a heartbeat after which a client counts as gone."""
KEY = "eyelevel"
"""Key in the scheduler's metadata with its owner and the owner's heartbeat counter."""


class ClusterError(ExpectedError):
    """A cluster is unusable."""


class SchedulerLostError(LaterError):
    """A scheduler was lost and did not return; committed loads are kept."""


def check_reachable(
    address: str, inspect: Callable[[socket.socket], None] = lambda _: None
) -> None:
    """Raise `ClusterError` if no scheduler listens at an address, before anything is written.

    `inspect` may check the connection further, and may raise `OSError`.
    """
    if not address:
        return
    try:
        reach(address, inspect)
    except (OSError, OverflowError) as error:
        raise _unreachable_error(address, error) from error


def reach(address: str, inspect: Callable[[socket.socket], None]) -> None:
    """Connect once and call `inspect`.

    Raises `OSError`, and `OverflowError` for an invalid port.
    """
    host, port = parse_host_port(address.partition("://")[2])
    if port > PORT_MAX:  # which the system would truncate to 16 bits
        raise OverflowError
    with socket.create_connection((host, port), CONNECT_S) as connection:
        inspect(connection)


def _unreachable_error(address: str, error: Exception) -> ClusterError:
    match error:
        case ConnectionRefusedError():
            why = "the connection was refused, so none runs there"
        case socket.gaierror() | OverflowError():
            why = "there is no such address"
        case OSError(errno=int(), strerror=str(text)):
            why = text[0].lower() + text[1:]
        case _:
            why = f"nobody answered within {CONNECT_S:g} s"
    return ClusterError(
        f"connecting to the scheduler at {address}: {why}; start it, or give the address that it "
        "printed"
    )


class Connection:
    """A run's exclusive connection to a scheduler."""

    def __init__(self, address: str, directory: Path, security: Security | None = None) -> None:
        """Prepare the connection; `security` None means Dask's own settings."""
        self.address = address
        self._security = security
        self._owner = f"process {os.getpid()} on {platform.node()}, writing {directory.resolve()}"
        self._beats = 0
        self._beaten_s = 0.0
        self._lost_s: float | None = None
        self._client: Client | None = None
        self.slots_here: subprocess.Popen[bytes] | None = None
        """Process of this machine's slots, if the run started them."""

    def __enter__(self) -> Self:
        """Connect.

        Raises `ClusterError` if the scheduler does not answer or another run uses it.
        """
        try:
            self._client = self._new_client(CONNECT_S)
        except OSError as error:
            raise _unreachable_error(self.address, error) from error
        self._claim(self._client)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            if self.is_up:
                with suppress(OSError):  # the scheduler may be lost at this moment
                    if self._owner_of(self._client) == self._owner:
                        self._client.set_metadata([KEY], None)
            self._client.close()

    @property
    def client(self) -> Client:
        """Dask's client; valid only while the scheduler is connected."""
        assert self._client is not None
        return self._client

    @property
    def is_up(self) -> bool:
        """Whether the scheduler is connected; if not, its tasks are lost."""
        return self._client is not None and self._client.status == "running"

    def beat(self) -> None:
        """Send a heartbeat if one is due.

        Raises `ClusterError` if another run claimed the scheduler at the same moment, and
        `LaterError` if the process of this machine's slots ended, since nothing would restart it.
        """
        if self.slots_here and (status := self.slots_here.poll()) is not None:
            raise LaterError(
                f"loading on this machine's slots: their process {self.slots_here.pid} ended "
                f"unasked, with status {status}; what is committed is kept, run with --resume to "
                "go on"
            )
        if time.monotonic() < self._beaten_s + BEAT_S:
            return
        if (owner := self._owner_of(self.client)) not in (None, self._owner):
            raise self._in_use_error(str(owner))
        self._tell(self.client)

    def dial(self) -> bool:
        """Try to reconnect to a lost scheduler; returns whether that succeeded.

        Raises `SchedulerLostError` after `WITHOUT_S_MAX`, and `ClusterError` if another run uses it
        now.
        """
        if self._client is not None:
            self._client.close(timeout=RETRY_S)
            self._client, self._lost_s = None, time.monotonic()
        try:
            self._client = self._new_client(RETRY_S)
        except OSError:
            assert self._lost_s is not None
            if time.monotonic() - self._lost_s > WITHOUT_S_MAX:
                raise SchedulerLostError(
                    f"the scheduler at {self.address} disappeared and did not come back within "
                    f"{WITHOUT_S_MAX / 60:g} minutes; what is committed is kept: start it again"
                ) from None
            return False
        # The scheduler may have kept running, and another run may have claimed it.
        if (owner := self._owner_of(self._client)) not in (None, self._owner):
            raise self._in_use_error(str(owner))
        self._tell(self._client)
        return True

    def restart(self, addresses: Sequence[str], timeout_s: float | None = None) -> None:
        """Let the nannies restart these workers' processes; absent workers are ignored.

        Waits for that at most `timeout_s` seconds; None for Dask's own limit.
        """
        # Dask raises KeyError for an address that its scheduler no longer has.
        bound = {} if timeout_s is None else {"timeout": timeout_s}
        with suppress(KeyError, OSError, TimeoutError):
            if self._client is not None:
                self._client.restart_workers(list(addresses), raise_for_error=False, **bound)

    def _new_client(self, timeout_s: float) -> Client:
        return Client(
            self.address, timeout=timeout_s, set_as_default=False, security=self._security
        )

    def _claim(self, client: Client) -> None:
        """Claim the scheduler, unless its owner sends a heartbeat meanwhile."""
        found = client.get_metadata([KEY], None)
        until_s = time.monotonic() + SILENCE_S
        while found is not None and time.monotonic() < until_s:
            time.sleep(BEAT_S / 4)
            now = client.get_metadata([KEY], None)
            if now is not None and now != found:
                client.close()
                raise self._in_use_error(now["owner"])
            found = now
        self._tell(client)

    def _tell(self, client: Client) -> None:
        self._beats += 1
        client.set_metadata([KEY], {"owner": self._owner, "beats": self._beats})
        self._beaten_s = time.monotonic()

    def _in_use_error(self, owner: str) -> ClusterError:
        return ClusterError(
            f"using the scheduler at {self.address}: {owner} is using it; wait until that run "
            "has ended, or start one scheduler per run"
        )

    @staticmethod
    def _owner_of(client: Client) -> str | None:
        found = client.get_metadata([KEY], None)
        return found["owner"] if found else None
