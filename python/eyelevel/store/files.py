"""Files that are on the disk when a function returns, whole or not at all."""

import os
import tempfile
from pathlib import Path

TEMPORARY_PREFIX = ".writing-"


def write_whole(file: Path, content: bytes) -> None:
    """Write under a temporary name beside `file`, sync and rename. Raises OSError."""
    handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=file.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        write_synced(temporary, content)
        temporary.chmod(0o644)  # mkstemp makes a private one; records are meant to be shared
        temporary.rename(file)
        sync_directory(file.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_synced(file: Path, content: bytes) -> None:
    """Write; a reader may see a part of it meanwhile. Raises OSError."""
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Have the names in it on the disk, too. Raises OSError."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
