"""Dask's settings for slots that measure times, and the return of a client's unused memory.

Lost blocks are counted by us, not by Dask. A client needs no more memory after 30,000 blocks than
after a thousand.
"""

import ctypes
import logging
from collections.abc import Mapping
from types import MappingProxyType

import dask
from dask.typing import Key
from dask.utils import key_split
from distributed.scheduler import DEFAULT_EXTENSIONS, Scheduler

LOG_LEVEL = "critical"
"""Log level of Dask, which logs each connection; the run reports events of slots itself."""

OURS: Mapping[str, object] = MappingProxyType(
    {
        # A block runs on the slot that it was assigned to, and on no other.
        "distributed.scheduler.work-stealing": False,
        # We count losses ourselves: the scheduler blames every task of a dead worker, even innocent
        # ones (dask-jobqueue#122). So let it report the first loss at once.
        "distributed.scheduler.allowed-failures": 0,
        "distributed.scheduler.worker-ttl": "60s",
        # The background work of workers and scheduler takes 2 to 3 % of a core (distributed#5062).
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
        # A client's debugging history would grow for a thousand blocks.
        "distributed.admin.low-level-log-length": 100,
        "distributed.client.scheduler-info-interval": "10s",
        "distributed.diagnostics.nvml": False,
        # A recording is sent as one large argument on purpose.
        "distributed.admin.large-graph-warning-threshold": "2 GiB",
        # Dask reads this when a slot's process starts, before it has this table.
        "distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": LOG_LEVEL,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
)


class _NoSpans:
    """Replaces Dask's spans extension, which keeps 11 kB per block in the client."""

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
"""Extensions of a scheduler that runs in this process."""

GIVE_BACK_BLOCKS = 500
"""Number of blocks after which a client returns memory; that takes some milliseconds."""

NO_HTTP_ADDRESS = "127.0.0.1:0"
"""Address of the HTTP server in each Dask process: without pages, on loopback only."""


def configure() -> None:
    """Apply these settings to Dask in this process and its children."""
    dask.config.set(OURS)
    logging.getLogger("distributed").setLevel(LOG_LEVEL.upper())


def give_back() -> None:
    """Return unused memory to the system."""
    # Dask caches the names of up to 100,000 tasks.
    key_split.cache_clear()
    # A thread's heap keeps the memory freed by growing tables and unpickled results.
    # Only glibc has malloc_trim.
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
