"""What a run of made-up loads leaves that nothing befell."""

from inspect import unwrap

import pytest
from distributed import Scheduler
from synthetic_cluster import SyntheticCluster, quick, tree

from eyelevel.cluster import settings


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """On one machine, without a cluster."""
    return tree(SyntheticCluster(tmp_path_factory.mktemp("whole"), {}).undisturbed())


@pytest.fixture
def soon_missed(monkeypatch):
    """As `quick`, for one test."""
    monkeypatch.setattr(settings, "OURS", settings.OURS)
    defaults = unwrap(Scheduler.restart_workers).__kwdefaults__
    monkeypatch.setitem(defaults, "timeout", defaults["timeout"])
    quick()
