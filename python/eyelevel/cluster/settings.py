"""Dask's settings for slots in which times are measured, and whose blocks are counted by us."""

import logging
import os
from collections.abc import Mapping
from types import MappingProxyType

import dask

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
        "distributed.client.scheduler-info-interval": "10s",
        "distributed.diagnostics.nvml": False,
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
)


LOG_LEVEL_VARIABLE = "DASK_LOGGING__DISTRIBUTED"
"""Dask's own, which processes that are started read, too: `info` shows each connection."""


def configure() -> None:
    """Have them in this process, and in those that it starts."""
    dask.config.set(OURS)
    level = os.environ.setdefault(LOG_LEVEL_VARIABLE, "critical")
    logging.getLogger("distributed").setLevel(level.upper())
