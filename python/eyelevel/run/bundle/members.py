"""The files that a bundle may contain, by name: one list for packing and unpacking."""

import re
from enum import Enum
from pathlib import PurePosixPath

from eyelevel.store.directory import PLAN_FILE

BUNDLE_VERSION = 1
MANIFEST = "bundle.json"
PLAN_MEMBER = f"run/{PLAN_FILE}"

TRIAL_FILE = (
    r"[0-9a-z]{1,64}/"
    r"(?:record\.json\.gz|messages\.json\.gz|frames\.npz|after-load-\d{1,3}\.npz"
    r"|netlog\.json\.gz|trace\.json\.gz"
    r"|logs/[A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)
"""A regular expression for the files of a trial, including the folder that its hash names."""
PACKED_SUFFIXES = (".npz", ".webp", ".wacz", ".gz")
"""The suffixes of files that do not compress further."""
_TAKEN = re.compile(
    rf"run/(?:(?:plan|environment|stop)\.json|trials/{TRIAL_FILE}|pictures/[0-9a-f]{{20}}\.webp"
    r"|machines/[0-9a-z-]{1,64}\.json)"
    r"|sites/[^./\\][^/\\]{0,220}"
    r"|files/[0-9a-f]{64}"
    r"|locks/[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
)
_FOLDERS = ("run", "sites", "files", "locks")


class Member(Enum):
    """The treatment of a file in a bundle."""

    TAKEN = "unpacked"
    LEFT = "left where it is"
    """A file that the sender derived from the records, such as a report. Readers must know its
    origin."""
    ASTRAY = "refused"
    """A file outside of the directory, or in a folder that bundles do not have."""


def kind_of(name: str) -> Member:
    """Return the treatment of a file by its name in the bundle."""
    parts = PurePosixPath(name).parts
    plain = name.isprintable() and "\\" not in name and not name.startswith("/")
    if not plain or len(parts) < 2 or parts[0] not in _FOLDERS or "/".join(parts) != name:
        return Member.ASTRAY
    if any(part in ("", ".", "..") for part in parts):
        return Member.ASTRAY
    if _TAKEN.fullmatch(name):
        return Member.TAKEN
    return Member.LEFT if parts[0] == "run" else Member.ASTRAY
