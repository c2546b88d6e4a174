"""Find why real-time priority is refused to a lab's path, and how to grant it.

`eyelevel doctor` tries whether it is refused; this module finds the cause.

Find which restrictions of a container prevent a lab, and the flags that lift them.

`eyelevel doctor` tries whether a lab works; this module finds likely causes, with flags of podman
and docker.
"""

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GUIDE = "docs/guides/container.md"
MARKS = ("/run/.containerenv", "/.dockerenv", "/run/systemd/container")
"""Marker files of podman, of docker, and of containers that systemd knows."""

REMEDIES = {
    "system calls": "--security-opt seccomp=FILE, the one that the guide writes",
    "/proc": (
        "podman: --security-opt 'unmask=/proc/*'; docker: --security-opt systempaths=unconfined"
    ),
    "AppArmor": "--security-opt apparmor=unconfined",
}
"""Remedies by obstacle."""


class Hindrance(NamedTuple):
    """A restriction of the container that may prevent a lab."""

    name: str
    found: str
    remedy: str


def is_container(root: Path = Path("/")) -> bool:
    """Return whether this process runs in a container of podman, docker or the like."""
    return any((root / mark.lstrip("/")).exists() for mark in MARKS)


def hindrances(process: Path = Path("/proc/self")) -> list[Hindrance]:
    """Return all restrictions in force, whether or not they cause a failure."""
    found = {
        "system calls": _filter(process),
        "/proc": _hidden(process),
        "AppArmor": _profile(process),
    }
    return [Hindrance(name, reason, REMEDIES[name]) for name, reason in found.items() if reason]


def _filter(process: Path) -> str:
    """Return the finding on seccomp filters; a filter does not reveal what it forbids."""
    lines = (process / "status").read_text("utf-8").splitlines()
    return "a filter is in force" if "Seccomp:\t2" in lines else ""


def _hidden(process: Path) -> str:
    """Return the finding on /proc: the kernel refuses to mount a new one if parts are masked."""
    hidden = sorted(_is_mounted_below(process, "/proc/"))
    if not hidden:
        return ""
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return f"something is mounted over {hidden[0]}{more}"


def _is_mounted_below(process: Path, folder: str) -> Iterator[str]:
    # proc(5): the fifth field is the mount point.
    for line in (process / "mountinfo").read_text("utf-8").splitlines():
        place = line.split(" ")[4]
        # An automount point from before the container; it masks nothing.
        if place.startswith(folder) and place != "/proc/sys/fs/binfmt_misc":
            yield place


def _profile(process: Path) -> str:
    try:
        name = (process / "attr" / "current").read_text("utf-8").strip("\n\0 ")
    except OSError:  # the kernel does not have it
        return ""
    return "" if name in ("", "unconfined") else f"the profile {name}"


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
