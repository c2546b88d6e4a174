"""How slots reach their scheduler: one worker a machine, and tries that become rarer."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from eyelevel.cluster.connection import ClusterError

PAUSE_S_FIRST, PAUSE_S_MAX = 1.0, 30.0
"""A try starts a process, beside loads of others perhaps; a slot is back within the longest."""
LASTED_S = 60.0
"""What held so long was a slot, and what ended it is something new."""

NAME_LENGTH_MAX = 107
"""Of a socket's name, in bytes (unix(7))."""


class Dialling:
    """Of one slot: when it tries again, and what it says of that, once as long as it holds."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._said = ""
        self._pause_s = PAUSE_S_FIRST

    def failed(self, line: str, lasted_s: float = 0.0) -> float:
        """How long to wait, in s, after a try that held for `lasted_s`; `line` says what was."""
        if lasted_s >= LASTED_S:
            self._said, self._pause_s = "", PAUSE_S_FIRST
        if line != self._said:
            self._told(f"{line}; trying again")
        pause_s, self._said = self._pause_s, line
        self._pause_s = min(2 * pause_s, PAUSE_S_MAX)
        return pause_s


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
                f"starting slots for {address}: this machine has an eyelevel worker for it already;"
                " end that one, or have all slots in one by --slots"
            ) from error
        yield
