"""What a run of made-up loads leaves that nothing befell."""

import cluster_stub
import pytest
from made_up_cluster import MadeUpCluster, tree

from eyelevel.cluster import settings
from eyelevel.store.commit import write_trial


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """On one machine, without a cluster."""
    cluster = MadeUpCluster(tmp_path_factory.mktemp("whole"), {})
    for trial in cluster.trials():
        made = cluster_stub.made_up(trial)
        write_trial(cluster.run, made.record, made.frames)
    return tree(cluster.run)


@pytest.fixture
def soon_missed(monkeypatch):
    """Workers that say nothing are taken for lost as soon as Dask can, which is after 5 s."""
    ours = {**settings.OURS, "distributed.scheduler.worker-ttl": "1s"}
    monkeypatch.setattr(settings, "OURS", ours)
