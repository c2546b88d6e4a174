"""Write a command's results: complete under their names or not at all; errors name the file."""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from eyelevel.disk.whole import write_whole
from eyelevel.errors import WriteError, refusal_of


@contextlib.contextmanager
def writing(place: Path) -> Iterator[None]:
    """Turn errors of the system within the block into a WriteError that names `place`, whichever
    temporary name was used."""
    try:
        yield
    except OSError as error:
        raise WriteError(place, refusal_of_writing(error, place)) from error


def make_folder(folder: Path) -> None:
    """Make a folder and those around it, as far as there are none. Raises WriteError."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)


def check_file(file: Path) -> None:
    """Check that a file can be written, before making something that takes long. Raises
    WriteError."""
    with writing(file):
        if file.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with TemporaryFile(dir=file.parent):
            pass


@contextlib.contextmanager
def folder_of_results(folder: Path) -> Iterator[None]:
    """A folder for what the block writes; made for it, it is gone if the block fails and leaves
    nothing there. Raises WriteError."""
    was_there = folder.exists()
    make_folder(folder)
    try:
        yield
    except BaseException:
        if not was_there:
            with contextlib.suppress(OSError):  # something is there
                folder.rmdir()
        raise


def write_result(file: Path, content: bytes | str) -> None:
    """Write a file, whole or not at all; a pipe or a device gets it as it is. Raises WriteError."""
    if isinstance(content, str):
        content = content.encode()
    with writing(file):
        if file.exists() and not file.is_file():
            file.write_bytes(content)
        else:
            write_whole(file.resolve(), content)  # through a link, not in its place


def refusal_of_writing(error: OSError, place: Path) -> str:
    """Return why the system refused to write there, and the way out."""
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
