"""Find which restrictions of a container prevent a lab, and the flags that lift them.

`eyelevel doctor` tries whether a lab works; this module finds likely causes, with flags of podman
and docker.
"""

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
    return [Hindrance(name, said, REMEDIES[name]) for name, said in found.items() if said]


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
