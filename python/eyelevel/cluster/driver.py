"""The slots of a cluster as a run's loop takes them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from eyelevel.cluster.slots import ClusterSlots
from eyelevel.cluster.where import Where, connected
from eyelevel.run.study.loop import Driver, Execution, Interrupted
from eyelevel.run.study.packed_block import BlockWork
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots


def cluster_driver(
    where: str, directory: Path, archives: Mapping[str, str], execution: Execution
) -> Driver:
    """Raises ClusterError for a place that cannot be read; the driver, if nobody is there."""
    place = Where.of(where)
    work = BlockWork(
        str(uuid4()), archives, execution.trace_files, execution.retries, execution.host_wait_s
    )

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        with connected(place, directory) as client:
            yield ClusterSlots(client, work, accounts.start)

    return driver
