"""Files and folders: whole under their names or absent, and gone with the process that made them.

A whole file is written under another name beside it, which cannot be guessed and is made
exclusively, so that no link is followed. Its maker holds a lock on it; who writes the same file
next removes what a killed one left. A temporary folder's owner holds a lock on the folder itself;
who makes the next folder removes those that nobody has locked. The kernel takes locks back however
their owner ends.

The steps of each kind of write are named in a table, in their order (`STEPS` here and in
`eyelevel.store.commit`), and `report_step` is called as each begins: a test ends the process or
fills the disk there.
"""

import contextlib
import errno
import fcntl
import glob
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedRandom
from pathlib import Path
from tempfile import TemporaryFile

from eyelevel.base.errors import WriteError, refusal_of

DRAFT_PREFIX = ".writing-"
"""Prefix of files and folders that are not complete yet."""

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""Errors of disks that do not support hard links (link(2))."""

STEPS = ("file begun", "file made", "file written", "file synced", "file renamed", "file done")
"""Steps of writing a file, in order; at `file done` its directory entry is synced, too."""


@contextlib.contextmanager
def whole_file(
    target: Path, *, is_new: bool = False, mode: int = 0o666
) -> Iterator[BufferedRandom]:
    """Yield a stream whose content becomes `target` after the block; on errors nothing changes.

    The stream can be read and sought; its `name` is a path that other code can write to. `is_new`:
    fail instead of replacing. `mode`: maximum permissions of the file. Raises `OSError`, and
    `FileExistsError` if something would be replaced.
    """
    report_step("file begun")
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with _new_file(target.parent, prefix) as stream:
        temporary = Path(stream.name)
        try:
            report_step("file made")
            yield stream
            stream.flush()
            report_step("file written")
            os.fchmod(stream.fileno(), mode & ~umask())
            os.fsync(stream.fileno())
            report_step("file synced")
            (_link_new if is_new else os.replace)(temporary, target)
            report_step("file renamed")
            sync_directory(target.parent)
            report_step("file done")
        finally:
            if _is_named(stream.fileno(), temporary):
                temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """Yield a private temporary folder next to `target`, removed after the block.

    Raises `OSError`.
    """
    prefix = f"{DRAFT_PREFIX}{target.name}-"
    _remove_drafts(target.parent, prefix)
    with lock_folder(target.parent, prefix) as folder:
        yield folder


def write_whole(target: Path, content: bytes, *, is_new: bool = False, mode: int = 0o666) -> None:
    """Write `target` atomically. Raises `OSError` as `whole_file` does."""
    with whole_file(target, is_new=is_new, mode=mode) as stream:
        stream.write(content)


def write_synced(file: Path, content: bytes) -> None:
    """Write a new file and sync it; readers may see a part of it meanwhile. Raises `OSError`."""
    with file.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def sync_directory(directory: Path) -> None:
    """Sync a directory's entries to disk. Raises `OSError`."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def umask() -> int:
    """Return this process's umask without changing it, unlike os.umask."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


@contextlib.contextmanager
def _new_file(parent: Path, prefix: str) -> Iterator[BufferedRandom]:
    while True:
        descriptor, name = tempfile.mkstemp(prefix=prefix, dir=parent)
        # Before it is locked, another process may take it for an orphan and remove it.
        if lock(descriptor) is not False and _is_named(descriptor, Path(name)):
            break
        os.close(descriptor)
    with _open_named(descriptor, name) as stream:
        yield stream


def _link_new(temporary: Path, target: Path) -> None:
    """Hard-link a file to a second name, which fails if that exists; the first is removed later."""
    try:
        os.link(temporary, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # Without hard links, check for the target first; that is not atomic.
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
        temporary.rename(target)


def _open_named(descriptor: int, name: str) -> BufferedRandom:
    """Open a descriptor as a stream whose `name` is a path, like that of a file opened by path."""
    return open(name, "w+b", opener=lambda *_: descriptor)


def _remove_drafts(parent: Path, prefix: str) -> None:
    for draft in list(parent.glob(f"{glob.escape(prefix)}*")):
        with contextlib.suppress(OSError):
            remove_orphan(draft)


PREFIX = "eyelevel-tmp-"
_MADE_HERE = re.compile(PREFIX + r"[a-z]+-[a-z0-9_]{8}")
"""Pattern of the names that `temporary_folder` creates; users' own folders do not match it."""


@contextlib.contextmanager
def temporary_folder(kind: str) -> Iterator[Path]:
    """Create a folder private to this user, removed on exit; `kind` is part of its name.

    Raises `OSError`.
    """
    parent = Path(tempfile.gettempdir())
    remove_orphans(parent, _MADE_HERE)
    with lock_folder(parent, f"{PREFIX}{kind}-") as folder:
        yield folder


@contextlib.contextmanager
def lock_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Create a private, locked folder in `parent`; on exit it is removed unless it was renamed."""
    folder, descriptor = _make(parent, prefix)
    try:
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(descriptor)


def remove_orphans(
    parent: Path, made_here: re.Pattern[str], end_users: Callable[[Path], None] | None = None
) -> int:
    """Remove unlocked folders whose names match `made_here`; returns how many there were.

    `end_users` is called with each before its removal. Other users' folders and links are left
    alone.
    """
    removed = 0
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if made_here.fullmatch(entry.name) and _is_ours(entry):
                    removed += remove_orphan(Path(entry.path), end_users)
    return removed


def remove_orphan(path: Path, end_users: Callable[[Path], None] | None = None) -> bool:
    """Remove a file or folder unless it is locked; returns whether it was removed.

    Raises `OSError`.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not lock(descriptor) or not _is_named(descriptor, path):
            return False
        if end_users is not None:
            end_users(path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def _is_named(descriptor: int, path: Path) -> bool:
    """Return whether `path` still is the file that is open as `descriptor`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except OSError:
        return False


def _make(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        # Before it is locked, another process may take it for an orphan and remove it.
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if lock(descriptor) is not False and _is_named(descriptor, folder):
            return folder, descriptor
        os.close(descriptor)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    return entry.stat(follow_symlinks=False).st_uid in (os.geteuid(), os.getuid())


LOCKS = Path("/proc/locks")
_SHOWN_CHARACTERS_MAX = 60
_CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_START_FIELD = 19
"""Index in `/proc/PID/stat`, counted after the name, of the process's start time in ticks."""


def lock(descriptor: int) -> bool | None:
    """Lock an open file or folder until it is closed; returns False if another process has it.

    Returns None if the disk has no locks.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def describe_owner(descriptor: int, locks: Path = LOCKS) -> str:
    """Describe the process that has locked an open file, as far as it can be found.

    Such as "process 12 since 14:05 (eyelevel run a.toml)". A process in another container has no id
    here.
    """
    pid = _owner(os.fstat(descriptor), locks)
    if pid is None:
        return "another process"
    owner = f"process {pid}"
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        started_s = float(fields[_START_FIELD]) / _CLOCK_TICKS_PER_S
    except (OSError, ValueError, IndexError):
        return owner
    running_s = time.clock_gettime(time.CLOCK_BOOTTIME) - started_s
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() - running_s))
    # Users know `python .venv/bin/eyelevel run` as `eyelevel run`.
    names = [word.decode(errors="replace") for word in words]
    called = next((n for n, name in enumerate(names) if Path(name).name == "eyelevel"), 0)
    command = " ".join([Path(names[called]).name, *names[called + 1 :]])
    printable = "".join(sign if sign.isprintable() else "?" for sign in command)
    return f"{owner} since {since} ({printable[:_SHOWN_CHARACTERS_MAX]})"


def _owner(status: os.stat_result, locks: Path) -> int | None:
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    try:
        lines = locks.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split()
        # "1: FLOCK  ADVISORY  WRITE 12 00:2d:34 0 EOF"; waiters have "->" after the number.
        if len(fields) > 5 and fields[1] == "FLOCK" and fields[5] == f"{device}:{status.st_ino}":
            return int(fields[4]) if int(fields[4]) > 0 else None
    return None


_on_step: Callable[[str], None] | None = None


def report_step(step: str) -> None:
    """Report that `step` begins; does nothing unless a test watches."""
    if _on_step is not None:
        _on_step(step)


@contextmanager
def watch_steps(on_step: Callable[[str], None]) -> Iterator[None]:
    """Call `on_step` with the name of each step that this process begins within the block."""
    global _on_step
    _on_step = on_step
    try:
        yield
    finally:
        _on_step = None


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
