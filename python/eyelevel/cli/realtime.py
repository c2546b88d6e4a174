"""Find why real-time priority is refused to a lab's path, and how to grant it.

`eyelevel doctor` tries whether it is refused; this module finds the cause.
"""

import resource
from pathlib import Path

from eyelevel.cli.container import GUIDE

PRIORITY = 2
"""Real-time priority of the path (`crates/netns/src/realtime.rs`)."""
SHARE = "cpu.rt_runtime_us"
MOUNTS = ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct")
"""Mount points of cgroups version 1, which alone have a real-time budget, in kernels with
CONFIG_RT_GROUP_SCHED.
"""

LIMIT_IN_CONTAINER = f"start the container with --ulimit rtprio={PRIORITY}"
LIMIT = (
    f"as root: echo '* - rtprio {PRIORITY}' >/etc/security/limits.d/eyelevel.conf, "
    "then log in again"
)
SHARE_IN_CONTAINER = (
    f"start the container with --cpu-rt-runtime 400000 in a cgroup that has such a share ({GUIDE})"
)


def share_us(root: Path = Path("/")) -> int | None:
    """Return the real-time budget of this process's cgroup, µs per second.

    Returns None without cgroup budgets.
    """
    for mount in (root / name for name in MOUNTS):
        # A container sees its own cgroup as the mount's root, under any name.
        for folder in (mount / _own_cgroup(root), mount):
            try:
                return int((folder / SHARE).read_text("ascii"))
            except (OSError, ValueError):
                continue
    return None


def _own_cgroup(root: Path) -> str:
    # cgroups(7): hierarchy, controllers, path.
    for line in (root / "proc/self/cgroup").read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if "cpu" in controllers.split(","):
            return path.lstrip("/")
    return ""


def realtime_remedy(is_container: bool, is_root: bool, root: Path = Path("/")) -> str:
    """Return what grants real-time priority.

    `is_root`: whether this process has root's capabilities outside of a user namespace.
    """
    wanted = []
    if resource.getrlimit(resource.RLIMIT_RTPRIO)[0] < PRIORITY and not _may_as_root(is_root, root):
        wanted.append(_right(is_container, is_root))
    if share_us(root) == 0:
        way = f"as root: echo 400000 into the {SHARE} of this cgroup and of those above"
        wanted.append(SHARE_IN_CONTAINER if is_container else way)
    return "; and ".join(wanted) or "the kernel refuses it for a reason of its own"


def _right(is_container: bool, is_root: bool) -> str:
    if is_container:
        return LIMIT_IN_CONTAINER + (", or with --cap-add SYS_NICE" if is_root else "")
    return LIMIT


def _may_as_root(is_root: bool, root: Path) -> bool:
    """Return whether CAP_SYS_NICE is effective, outside of any user namespace."""
    nice = 23  # capability.h
    lines = (root / "proc/self/status").read_text("utf-8").splitlines()
    (effective,) = (int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return is_root and bool(effective >> nice & 1)
