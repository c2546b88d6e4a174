"""Dask's settings for slots that measure times and whose lost blocks we count ourselves, and a
client's return of memory, so that it is as small after 30,000 blocks as after a thousand."""

import ctypes
import logging
from collections.abc import Mapping
from types import MappingProxyType

import dask
from dask.typing import Key
from dask.utils import key_split
from distributed.scheduler import DEFAULT_EXTENSIONS, Scheduler

LOG_LEVEL = "critical"
"""The log level of Dask, which logs each connection; the run itself reports what happens to
slots."""

OURS: Mapping[str, object] = MappingProxyType(
    {
        # A block goes to the slot that it was given to, and to no other.
        "distributed.scheduler.work-stealing": False,
        # Losses are counted by us: the scheduler blames whatever a dead worker had, the innocent,
        # too (dask-jobqueue#122), so that the first loss comes back at once.
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-ttl": "60s",
        # What workers and scheduler do on their own takes 2 to 3 % of a core (distributed#5062).
        "distributed.worker.profile.enabled": False,
        "distributed.scheduler.active-memory-manager.start": False,
        "distributed.admin.tick.interval": "1s",
        "distributed.admin.tick.cycle": "10s",
        "distributed.admin.system-monitor.interval": "10s",
        "distributed.admin.system-monitor.gil.enabled": False,
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
        # What a client keeps of its last blocks for Dask's developers would grow for a thousand.
        "distributed.admin.low-level-log-length": 100,
        "distributed.client.scheduler-info-interval": "10s",
        "distributed.diagnostics.nvml": False,
        # A recording that a machine lacks is sent as one argument; that is meant.
        "distributed.admin.large-graph-warning-threshold": "2 GiB",
        # Read where a slot's process begins, before it has this table.
        "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": LOG_LEVEL,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
)


class _NoSpans:
    """Replaces Dask's spans extension, which keeps eleven kilobytes per block in the client until
    the end of a run, of perhaps 30,000 blocks."""

    def __init__(self, _: Scheduler) -> None:
        pass

    def observe_tasks(self, *_: object, **__: object) -> dict[Key, dict[str, object]]:
        """Record nothing."""
        return {}

    def heartbeat(self, *_: object, **__: object) -> None:
        """Ignore the workers' spans."""


EXTENSIONS = {
    **{name: each for name, each in DEFAULT_EXTENSIONS.items() if name != "stealing"},
    "spans": _NoSpans,
}
"""Extensions of a scheduler that runs here."""

GIVE_BACK_BLOCKS = 500
"""A client returns memory after this many blocks; it takes some milliseconds."""

NO_HTTP_ADDRESS = "127.0.0.1:0"
"""The address of the HTTP server in each process of Dask's: without pages, on loopback only."""


def configure() -> None:
    """Set Dask's settings in this process and those that it starts."""
    dask.config.set(OURS)
    logging.getLogger("distributed").setLevel(LOG_LEVEL.upper())


def give_back() -> None:
    """Return unused memory to the system."""
    # Dask remembers the name of each task that it ever had, up to 100,000.
    key_split.cache_clear()
    # A thread's heap keeps what a table left behind when it grew, and what an answer was made of.
    # Only glibc has the function.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
