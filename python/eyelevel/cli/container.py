"""Find what a container denies a lab, and the flags of podman and docker that grant it.

Whether a lab works is tried by `eyelevel doctor`; here is looked up what stands in its way.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GUIDE = "docs/guides/container.md"
MARKS = ("/run/.containerenv", "/.dockerenv", "/run/systemd/container")
"""Files of podman, of docker, and of those that systemd knows."""

REMEDIES = {
    "system calls": "--security-opt seccomp=FILE, the one that the guide writes",
    "/proc": (
        "podman: --security-opt 'unmask=/proc/*'; docker: --security-opt systempaths=unconfined"
    ),
    "AppArmor": "--security-opt apparmor=unconfined",
}
"""The remedies by obstacle."""


class Hindrance(NamedTuple):
    """Something of the container's that a lab may fail of."""

    name: str
    found: str
    remedy: str


def is_container(root: Path = Path("/")) -> bool:
    """Return whether this is a container of podman's, docker's or their kin."""
    return any((root / mark.lstrip("/")).exists() for mark in MARKS)


def hindrances(process: Path = Path("/proc/self")) -> list[Hindrance]:
    """Return all that are in force, whether or not something fails of them."""
    found = {
        "system calls": _filter(process),
        "/proc": _hidden(process),
        "AppArmor": _profile(process),
    }
    return [Hindrance(name, said, REMEDIES[name]) for name, said in found.items() if said]


def _filter(process: Path) -> str:
    """Return the finding on filters of system calls; a filter does not report what it forbids."""
    lines = (process / "status").read_text("utf-8").splitlines()
    return "a filter is in force" if "Seccomp:\t2" in lines else ""


def _hidden(process: Path) -> str:
    """Return the kernel mounts no new /proc where something is mounted over parts of the old
    one."""
    hidden = sorted(_is_mounted_below(process, "/proc/"))
    if not hidden:
        return ""
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return f"something is mounted over {hidden[0]}{more}"


def _is_mounted_below(process: Path, folder: str) -> Iterator[str]:
    # proc(5): the fifth field is where it is mounted.
    for line in (process / "mountinfo").read_text("utf-8").splitlines():
        place = line.split(" ")[4]
        # An automatic mount that was there before the container; it hides nothing.
        if place.startswith(folder) and place != "/proc/sys/fs/binfmt_misc":
            yield place


def _profile(process: Path) -> str:
    try:
        name = (process / "attr" / "current").read_text("utf-8").strip("\n\0 ")
    except OSError:  # a kernel without it
        return ""
    return "" if name in ("", "unconfined") else f"the profile {name}"
