"""Whole commands of an ordinary user: of nobody, who may enter the interpreter and the sources.

Where an interpreter lies in somebody's own folder, that folder is covered for the command alone, in
a mount namespace of its own, by one which has nothing but what the command needs of it.
"""

import sys
from pathlib import Path

from raw_lab import NOBODY
from repository import ROOT

NEEDED = (Path(sys.base_prefix), Path(sys.prefix), ROOT)


def closed_above(place: Path) -> Path | None:
    """The outermost folder above it that others may not enter."""
    above = [*reversed(place.resolve().parents), place.resolve()]
    return next((folder for folder in above if not folder.stat().st_mode & 0o001), None)


def as_nobody(stash: Path) -> list[str]:
    """Return a command prefix for the user nobody; `stash` is an empty folder of the test's."""
    lines = ["set -e"]
    for folder in {closed_above(place) for place in NEEDED} - {None}:
        inside = [place.resolve() for place in NEEDED if closed_above(place) == folder]
        kept = {place: stash / str(number) for number, place in enumerate(inside)}
        for place, mount in kept.items():
            mount.mkdir(exist_ok=True)
            lines.append(f"mount --bind '{place}' '{mount}'")
        lines.append(f"mount -t tmpfs -o mode=755 cover '{folder}'")
        for place, mount in kept.items():
            lines.append(f"mkdir -p '{place}'")
            lines.append(f"mount --bind '{mount}' '{place}'")
    lines.append('exec "$@"')
    return ["unshare", "--mount", "sh", "-c", "\n".join(lines), "sh", *NOBODY]
