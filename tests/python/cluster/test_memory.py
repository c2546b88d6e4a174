"""A client keeps nothing of the blocks that it has committed."""

from dask.utils import key_split
from made_up_cluster import PLAN, MadeUpCluster

from eyelevel.cluster import slots


def test_names_of_tasks_that_are_over_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(slots, "GIVE_BACK_BLOCKS", 1)
    cluster = MadeUpCluster(tmp_path, {}, PLAN.replace("blocks = 3", "blocks = 12"))
    blocks = cluster.to_its_end("one").done // 3
    # The last ones to come are of blocks that were under way together.
    assert blocks >= 24 and key_split.cache_info().currsize < blocks / 2
