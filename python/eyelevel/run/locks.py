"""What the versions of everything are: lock files of this eyelevel, and what is installed."""

from importlib.metadata import distributions
from pathlib import Path

INSTALLED = "installed.txt"
LOCK_FILES = ("requirements.lock", "Cargo.lock")
"""Of the Python and the Rust half; a source tree has them, a wheel does not."""

_SOURCE_TREE = Path(__file__).parents[3]


def locks() -> dict[str, bytes]:
    """The content of each lock by its file's name.

    `installed.txt` has the Python packages of this environment as pip writes them.
    """
    names = {each.name: each.version for each in distributions() if each.name}
    installed = "".join(f"{name}=={version}\n" for name, version in sorted(names.items()))
    files = [_SOURCE_TREE / name for name in LOCK_FILES]
    found = {file.name: file.read_bytes() for file in files if file.is_file()}
    return {INSTALLED: installed.encode(), **found}
