"""The slots of a cluster as a run's loop takes them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from eyelevel.cluster.slots import ClusterSlots
from eyelevel.cluster.where import Where, connected
from eyelevel.run.study.inputs import Input
from eyelevel.run.study.loop import Driver, Execution, Interrupted
from eyelevel.run.study.packed_block import BlockWork
from eyelevel.run.study.progress import Accounts
from eyelevel.run.study.slots import Slots
from eyelevel.sites.recorded import RecordedSite


def cluster_driver(
    where: str, directory: Path, sites: Sequence[RecordedSite], execution: Execution
) -> Driver:
    """Raises ClusterError for a place that cannot be read; the driver, if nobody is there."""
    place = Where.of(where)
    recordings = {site.name: Input(site.digest, str(site.path.resolve())) for site in sites}
    traces = {digest: Input(digest, file) for digest, file in execution.trace_files.items()}
    work = BlockWork(str(uuid4()), recordings, traces, execution.retries, execution.host_wait_s)

    @contextmanager
    def driver(accounts: Accounts, interrupted: Interrupted) -> Iterator[Slots]:
        with connected(place, directory) as connection:
            yield ClusterSlots(connection, work, accounts.start)

    return driver
