from pathlib import Path

import pytest

from eyelevel.run.study.cores import Processors, quota, whole_cores


def cpus(folder: Path, siblings: dict[int, str]) -> Path:
    for number, text in siblings.items():
        topology = folder / f"cpu{number}/topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{text}\n")
    return folder


def test_threads_of_one_core_are_one_core(tmp_path):
    apart = cpus(tmp_path / "apart", {n: f"{n % 4},{n % 4 + 4}" for n in range(8)})
    assert whole_cores(range(8), apart) == tuple(frozenset({n, n + 4}) for n in range(4))
    beside = cpus(tmp_path / "beside", {0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"})
    assert whole_cores({0, 1, 2, 3}, beside) == (frozenset({0, 1}), frozenset({2, 3}))


def test_only_what_may_be_used_is_taken(tmp_path):
    apart = cpus(tmp_path, {n: f"{n % 4},{n % 4 + 4}" for n in range(8)})
    assert whole_cores({1, 5, 6}, apart) == (frozenset({1, 5}), frozenset({6}))


def test_where_the_kernel_tells_no_siblings_each_is_a_core(tmp_path):
    assert whole_cores({3, 0}, tmp_path) == (frozenset({0}), frozenset({3}))


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({}, None),
        ({"a/b": "max 100000"}, None),
        ({"a/b": "max 100000", "a": "250000 100000"}, 2.5),
        ({"a/b": "50000 100000", "a": "250000 100000"}, 0.5),
        ({".": "400000 100000"}, 4.0),  # a container's own root
        ({"a": "damaged"}, None),
    ],
)
def test_the_least_quota_on_the_way_up_counts(tmp_path, limits, expected):
    mount = tmp_path / "mounted"
    (tmp_path / "own").write_text("7:cpuset:/elsewhere\n0::/a/b\n")
    for group, limit in limits.items():
        (mount / group).mkdir(parents=True, exist_ok=True)
        (mount / group / "cpu.max").write_text(f"{limit}\n")
    (tmp_path / "cpu.max").write_text("100000 100000\n")  # outside of the mount
    assert quota(tmp_path / "own", [mount], []) == expected


def test_a_quota_of_version_1_is_read_too(tmp_path):
    mount = tmp_path / "cpu"
    (tmp_path / "own").write_text("2:cpuset:/x\n4:cpu,cpuacct:/x\n0::/\n")
    group = mount / "x"
    group.mkdir(parents=True)
    for folder, limit in ((mount, -1), (group, 150000)):
        (folder / "cpu.cfs_quota_us").write_text(f"{limit}\n")
        (folder / "cpu.cfs_period_us").write_text("100000\n")
    assert quota(tmp_path / "own", [], [mount]) == 1.5
    assert quota(tmp_path / "absent", [], [mount]) is None


def test_what_is_said_of_them():
    two = (frozenset({0}), frozenset({1}))
    assert str(Processors(two)) == "2" and Processors(two).count == 2
    threads = Processors((frozenset({0, 2}), frozenset({1, 3})))
    assert str(threads) == "2 (with 4 hardware threads)" and threads.count == 2
    held = Processors(two, 1.5)
    assert held.count == 1
    assert str(held) == "the time of 1.5, the quota of its control group"
    assert str(Processors(two, 8.0)) == "2"
