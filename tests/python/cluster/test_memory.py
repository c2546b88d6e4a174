"""A client keeps nothing of the blocks that it has committed."""

import resource
from pathlib import Path

from dask.utils import key_split
from synthetic_cluster import PLAN, SyntheticCluster

from eyelevel.cluster import slots
from eyelevel.cluster.settings import give_back

ANSWERS, ANSWER_BYTES = 3000, 20_000


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_names_of_tasks_that_are_over_are_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(slots, "GIVE_BACK_BLOCKS", 1)
    cluster = SyntheticCluster(tmp_path, {}, PLAN.replace("blocks = 3", "blocks = 12"))
    blocks = cluster.to_its_end("one").done // 3
    # The last ones to come are of blocks that were under way together.
    assert blocks >= 24 and key_split.cache_info().currsize < blocks / 2


def test_what_is_free_below_something_that_is_kept_is_given_back():
    answers = [bytearray(ANSWER_BYTES) for _ in range(ANSWERS)]
    for answer in answers:
        answer[::4096] = b"x" * len(answer[::4096])  # its pages are there from now on
    del answers[:-1]
    held_bytes = resident_bytes()
    give_back()
    assert held_bytes - resident_bytes() > 0.8 * ANSWERS * ANSWER_BYTES
