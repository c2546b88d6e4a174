"""Write a command's results atomically; errors name the result's own file."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from eyelevel.base.errors import WriteError, refusal_of
from eyelevel.store.disk.whole import write_whole


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Convert `OSError` in the block to a `WriteError` that names `place`, not a temporary file."""
    try:
        yield
    except OSError as error:
        raise WriteError(place, refusal_of_writing(error, place)) from error


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents. Raises `WriteError`."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def check_file(file: Path) -> None:
    """Check that a file can be written, before a long computation. Raises `WriteError`."""
    with writing(file):
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with TemporaryFile(dir=file.parent):
            pass


@contextlib.contextmanager
def folder_of_results(folder: Path) -> Iterator[None]:
    """Create a folder for the block's results; it is removed if the block fails and left it empty.

    Raises `WriteError`.
    """
    was_there = folder.exists()
    make_folder(folder)
    try:
        yield
    except BaseException:
        if not was_there:
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


def write_result(file: Path, content: bytes | str) -> None:
    """Write a file atomically; a pipe or device is written directly. Raises `WriteError`."""
    if isinstance(content, str):
        content = content.encode()
    with writing(file):
        if file.exists() and not file.is_file():
            file.write_bytes(content)
        else:
            write_whole(file.resolve(), content)  # write the link's target, do not replace the link


def refusal_of_writing(error: OSError, place: Path) -> str:
    """Return why the system refused to write there, and a remedy."""
    folder = place.parent
    if error.errno == errno.ENOENT and not folder.exists():
        return f"there is no folder {folder}; make it first, or name another place"
    if error.errno == errno.ENOENT:
        return f"{folder} takes no new files; name another place"
    if error.errno == errno.EEXIST:
        return "a file of this name is in the way; name another place"
    if error.errno == errno.ENOTDIR:
        return "a part of this name is a file and not a folder; name another place"
    return refusal_of(error)
