"""Confine untrusted code: command prefixes for browsers and external servers.

`eyelevel-lab confine` runs it as an unprivileged user, in its own namespaces, with a read-only view
of the system and its own writable folder (docs/security.md). If the kernel forbids that, nothing
starts, unless the caller passed `--unsafe-browser`.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from eyelevel.base.errors import ConfinementError
from eyelevel.base.lab_tables import CAPABILITIES
from eyelevel.lab.binary import find_binary

UNSAFE_VARIABLE = "EYELEVEL_UNSAFE_BROWSER"
"""Environment variable that `--unsafe-browser` sets, so that it applies to child processes, too."""

USER_VARIABLE = "EYELEVEL_BROWSER_USER"
"""Environment variable that names root's unprivileged user for browsers and external servers."""

USERS: tuple[str, ...] = ("eyelevel", "nobody")
"""Users that root switches to if none is named; the first existing one is used."""

SYSTEM_FOLDERS: tuple[str, ...] = ("/usr", "/opt", "/nix/store", "/bin", "/sbin", "/lib", "/etc")
"""Folders that every confined program may read, as in crates/netns/src/confine/view.rs."""


def is_unsafe() -> bool:
    """Return whether the caller disabled confinement."""
    return os.environ.get(UNSAFE_VARIABLE) == "1"


def missing_capabilities() -> list[str]:
    """Return root's capabilities that this process lacks; labs then use user namespaces.

    Effective capabilities count, not the user id, as in `crates/netns/src/capabilities.rs`.
    """
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (effective,) = (int(line.split()[1], 16) for line in lines if line.startswith("CapEff:"))
    return [name for name, number in CAPABILITIES.items() if not effective >> number & 1]


def find_unprivileged_user() -> tuple[int, int] | None:
    """Return (uid, gid) for programs that root starts; None without root's privileges.

    Raises `ConfinementError` if the machine has no such user.
    """
    if missing_capabilities() or _is_only_user():
        return None
    named = os.environ.get(USER_VARIABLE)
    for name in (named,) if named else USERS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        if user.pw_uid and user.pw_gid:
            return user.pw_uid, user.pw_gid
    raise ConfinementError(
        "looked for an unprivileged user to run the browser as "
        f"({named or ' or '.join(USERS)}) and found none; "
        f"name one in {USER_VARIABLE}, or give --unsafe-browser"
    )


def confine(
    prefix: Sequence[str],
    writable: Iterable[Path],
    readable: Iterable[Path] = (),
    descriptors: int = 0,
    placed: Mapping[str, Path] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return `prefix`, which runs a command, extended by the confinement.

    `writable` and `readable` are absolute paths outside of the system's, `placed` such paths by
    the place at which they may be read instead, `descriptors` the number to keep after standard
    error. Raises `ConfinementError`, and `LabError` without the data plane's
    binary.
    """
    if is_unsafe():
        return tuple(prefix)
    options: list[str] = []
    if (user := find_unprivileged_user()) is not None:
        options += ["--user", f"{user[0]}:{user[1]}"]
    for option, paths in (("--writable", writable), ("--readable", readable)):
        for path in paths:
            options += [option, str(path)]
    for place, path in placed.items():
        options += ["--placed", f"{path}={place}"]
    if descriptors:
        options += ["--descriptors", str(descriptors)]
    return (*prefix, find_binary(), "confine", *options, "--")


def hand_over(folder: Path) -> None:
    """Change the owner of a folder and its content to the confined user.

    Call it before the start.
    """
    user = None if is_unsafe() else find_unprivileged_user()
    if user is None:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, *user, follow_symlinks=False)


def beside_the_system(program: str) -> tuple[Path, ...]:
    """Return the folder of a program outside of the system's folders, to make it visible.

    Raises `ConfinementError` if that would expose the caller's home.
    """
    folder = Path(program).resolve().parent
    if is_unsafe() or is_of_system(folder):
        return ()
    if _home().resolve().is_relative_to(folder):
        raise ConfinementError(
            f"{program} lies in {folder}, where a page's code could read everything beside it; "
            "move it to its own folder"
        )
    return (folder,)


def path_in_view(program: str) -> str:
    """Return the program's path in the confined view, where links to other places do not exist."""
    seen = is_unsafe() or is_of_system(Path(program).absolute())
    return program if seen else str(Path(program).resolve())


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # a user id without an entry, as in some containers
        return Path("/nonexistent")


def is_of_system(path: Path) -> bool:
    """Return whether every confined program may read a path."""
    return any(path.is_relative_to(known) for known in SYSTEM_FOLDERS)


def _is_only_user() -> bool:
    """Return whether we are root in a user namespace with a single user."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    return len(lines) == 1 and lines[0].split()[2] == "1"
