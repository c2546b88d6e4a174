"""Why real-time priority is refused, from files as kernels of both sorts have them."""

import resource

import pytest

from eyelevel.cli import realtime
from eyelevel.cli.realtime import realtime_remedy, share_us

NO_NICE, ALL = "000001ffff7fffff", "000001ffffffffff"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A root folder of a machine, and the limit of its processes."""

    def write(shares=None, cgroup="/user", limit=0, capabilities=NO_NICE):
        monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
        own = tmp_path / "proc/self"
        own.mkdir(parents=True)
        (own / "status").write_text(f"Name:\tx\nCapEff:\t{capabilities}\n")
        (own / "cgroup").write_text(f"2:cpuset:/other\n1:cpu,cpuacct:{cgroup}\n0::/unified\n")
        for folder, share in (shares or {}).items():
            (tmp_path / folder).mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / realtime.SHARE).write_text(f"{share}\n")
        return tmp_path

    return write


def test_the_share_is_that_of_the_process_s_own_cgroup(machine):
    root = machine({"sys/fs/cgroup/cpu": 950000, "sys/fs/cgroup/cpu/user": 0})
    assert share_us(root) == 0


def test_a_container_s_cgroup_is_the_mount_s_root(machine):
    assert share_us(machine({"sys/fs/cgroup/cpu,cpuacct": 400000}, "/libpod/of-the-host")) == 400000


def test_where_cgroups_have_no_share_none_is_asked_for(machine):
    root = machine()
    assert share_us(root) is None
    remedy = realtime_remedy(True, False, root)
    assert remedy == "start the container with --ulimit rtprio=2"


def test_a_container_without_limit_and_share_is_told_both(machine):
    remedy = realtime_remedy(True, False, machine({"sys/fs/cgroup/cpu": 0}))
    assert "--ulimit rtprio=2" in remedy and "--cpu-rt-runtime" in remedy
    assert "SYS_NICE" not in remedy


def test_the_limit_leaves_the_share(machine):
    remedy = realtime_remedy(True, False, machine({"sys/fs/cgroup/cpu": 0}, limit=2))
    assert "rtprio" not in remedy and "--cpu-rt-runtime" in remedy


def test_a_limit_below_the_path_s_priority_is_none(machine):
    assert "rtprio=2" in realtime_remedy(True, False, machine(limit=1))


def test_root_s_capability_counts_without_a_user_namespace_only(machine):
    root = machine({"sys/fs/cgroup/cpu": 0}, capabilities=ALL)
    assert "rtprio" not in realtime_remedy(True, True, root)
    assert "rtprio" in realtime_remedy(True, False, root)


def test_root_of_a_container_may_add_the_capability(machine):
    assert "--cap-add SYS_NICE" in realtime_remedy(True, True, machine())


def test_outside_of_containers_no_option_of_theirs_is_named(machine):
    remedy = realtime_remedy(False, False, machine({"sys/fs/cgroup/cpu": 0}))
    assert "limits.d" in remedy and "as root: echo 400000" in remedy and "--" not in remedy
