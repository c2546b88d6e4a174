"""Find the packages that install what doctor finds missing, by package manager; pure.

Debian's was tested. The others' names and commands are from their distributions' lists, so they are
shown but not run. Ubuntu's browsers are snaps: a snap has its own mounts and confinement, so it
does not run in a lab's network namespace, and Ubuntu has no other package of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Manager:
    """A package manager.

    `before` refreshes its lists; `is_tried` is whether we tested it.
    """

    before: tuple[str, ...]
    install: tuple[str, ...]
    column: int
    is_tried: bool = False


MANAGERS: dict[str, Manager] = {
    "apt-get": Manager(
        ("apt-get", "update", "-q"),
        ("apt-get", "install", "-y", "--no-install-recommends"),
        column=0,
        is_tried=True,
    ),
    "dnf": Manager((), ("dnf", "install", "-y"), column=1),
    "pacman": Manager((), ("pacman", "-S", "--needed", "--noconfirm"), column=2),
    "zypper": Manager((), ("zypper", "--non-interactive", "install"), column=3),
}
"""Package managers by program, in order of preference."""

PACKAGES: dict[str, tuple[str, str, str, str]] = {
    "Chromium": ("chromium", "chromium", "chromium", "chromium"),
    "fonts": ("fonts-liberation", "liberation-fonts", "ttf-liberation", "liberation-fonts"),
    "Firefox": ("firefox-esr", "firefox", "firefox", "MozillaFirefox"),
    "Xvfb": ("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xorg-x11-server-Xvfb"),
    "certutil": ("libnss3-tools", "nss-tools", "nss", "mozilla-nss-tools"),
    "ffmpeg": ("ffmpeg", "ffmpeg-free", "ffmpeg", "ffmpeg"),
}
"""Package names for each missing item, one per manager."""

SNAPS = ("Chromium", "Firefox")
"""Browsers that Ubuntu installs as snaps."""
NO_SNAPS = ("linuxmint", "pop")
"""Derivatives of Ubuntu that package browsers themselves."""
SNAP_WAY_OUT = (
    "Ubuntu's {what} is a snap, unfit for a lab: use the container image, or install a .deb of the "
    "browser's makers (Google Chrome, or Mozilla's firefox-esr); not tried on Ubuntu by us"
)


@dataclass(frozen=True)
class Remedy:
    """The remedy for missing items: commands in order, none if unknown, and remarks."""

    commands: tuple[tuple[str, ...], ...] = ()
    remarks: tuple[str, ...] = ()
    is_tried: bool = False


def os_release(text: str) -> dict[str, str]:
    """Parse `/etc/os-release`; lines that are not assignments are ignored."""
    pairs = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, sign, value in pairs if sign}


def has_snaps(system: Mapping[str, str]) -> bool:
    """Return whether the browsers in this system's package lists are snaps."""
    name = system.get("ID", "")
    kin = system.get("ID_LIKE", "").split()
    return name not in NO_SNAPS and "ubuntu" in (name, *kin)


def is_snap(executable: str, resolved: str) -> bool:
    """Return whether a program, given its path and the link's target, is a snap."""
    return (
        executable.startswith("/snap/")
        or resolved.startswith("/snap/")
        or (resolved.rpartition("/")[2] == "snap")
    )


def remedy(absent: Sequence[str], system: Mapping[str, str], managers: Sequence[str]) -> Remedy:
    """Return the remedy for `absent`, keys of `PACKAGES`, on a system with these managers."""
    snaps = [each for each in absent if each in SNAPS and has_snaps(system)]
    remarks = tuple(SNAP_WAY_OUT.format(what=each) for each in snaps)
    wanted = [each for each in absent if each not in snaps]
    known = next((name for name in MANAGERS if name in managers), None)
    if not wanted:
        return Remedy(remarks=remarks)
    if known is None:
        names = " ".join(PACKAGES[each][0] for each in wanted)
        line = f"no package manager that is known here; in Debian's names: {names}"
        return Remedy(remarks=(*remarks, line))
    manager = MANAGERS[known]
    packages = [PACKAGES[each][manager.column] for each in wanted]
    commands = ((manager.before,) if manager.before else ()) + ((*manager.install, *packages),)
    return Remedy(commands, remarks, manager.is_tried)
