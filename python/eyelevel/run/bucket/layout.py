"""The layout of a bucket: object names, and the blocks of a plan by number.

Pack a block as one ZIP file with its trials' folders; each member is named `HASH/FILE`.

Remember which blocks a bucket already has, so that none is read back for comparison.

A hidden file in the run's directory, one per bucket, has one line per block. A line is written once
the bucket has the block; a line lost by a killed writer costs reading that block back once.
"""

import hashlib
import io
import os
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path, PurePosixPath

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import lines_of, read_bytes
from eyelevel.base.from_outside.limits import BLOCK, LOG, NAMES, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.packed import open_pack
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.run.bundle.bundle import PACKED_SUFFIXES, TRIAL_FILE
from eyelevel.store.directory import FRAMES_FILE, RECORD_FILE, TRIALS, parse_record, refusals
from eyelevel.store.frames import name_of_last
from eyelevel.store.packed import PackedTrial
from eyelevel.store.pictures import PICTURES

BLOCKS = "blocks"
_BLOCK = re.compile(r"(\d{7})\.zip")
_MACHINE = re.compile(r"[0-9a-z-]{1,64}\.json")
_PICTURE = re.compile(r"([0-9a-f]{20})\.webp")


def block_object(number: int) -> str:
    """Return the object name of a block, given its index in the plan."""
    return f"{BLOCKS}/{number:07}.zip"


def block_number(file: str) -> int | None:
    """Return a block's index from its file name; None for other files."""
    found = _BLOCK.fullmatch(file)
    return int(found[1]) if found else None


def is_machine_file(file: str) -> bool:
    """Return whether a file name in `MACHINES` belongs to a machine."""
    return _MACHINE.fullmatch(file) is not None


def picture_object(name: str) -> str:
    """Return the object name of an image."""
    return f"{PICTURES}/{name}.webp"


def picture_of(file: str) -> str | None:
    """Return an image's name from its file name in `PICTURES`; None for other files."""
    found = _PICTURE.fullmatch(file)
    return found[1] if found else None


def blocks_of(trials: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Group (block, hash) pairs in the plan's order to one tuple of hashes per block."""
    return [
        tuple(name for _, name in group) for _, group in groupby(trials, key=lambda each: each[0])
    ]


_PREFIX = ".copied-"
_LINE = re.compile(r"\d{7}")
_NAME_HEX = 16


class Known:
    """The list of blocks that one bucket has."""

    def __init__(self, directory: Path, url: str) -> None:
        digest = hashlib.sha256(url.encode()).hexdigest()
        self._file = directory / f"{_PREFIX}{digest[:_NAME_HEX]}"

    def read(self) -> set[int]:
        """Return the numbers of the blocks. Raises `OutsideError`."""
        if not self._file.exists():
            return set()
        source = Source(str(self._file), NAMES)
        lines = lines_of(self._file, source, WORD_LINE_BYTES_MAX)
        return {int(line) for _, line in lines if _LINE.fullmatch(line)}

    def add(self, number: int) -> None:
        """Append a block to the list. Raises `StoreError` if the disk refuses."""
        with refusals(self._file), self._file.open("a", encoding="ascii") as stream:
            stream.write(f"\n{number:07}")  # a line that was cut off stays separate


Files = Mapping[str, bytes]
"""Contents of a block's files, by `HASH/FILE`."""

_DATE = (1980, 1, 1, 0, 0, 0)  # a fixed date: equal blocks give equal files
_MEMBER = re.compile(TRIAL_FILE)


def read_block(directory: Path, names: Iterable[str]) -> Files:
    """Read the files of these committed trials from a run's `directory`.

    Raises `StoreError` if a file cannot be read.
    """
    files = {}
    for name in names:
        for member in sorted(_members_of(directory / TRIALS, name)):
            path = directory / TRIALS / member
            files[member] = read_bytes(path, Source(str(path), LOG, StoreError))
    return files


def _members_of(folder: Path, name: str) -> Iterator[str]:
    for place, _, files in os.walk(folder / name):
        for file in files:
            member = Path(place, file).relative_to(folder).as_posix()
            if _MEMBER.fullmatch(member):
                yield member


def pack_block(files: Files) -> bytes:
    """Pack a block's files into one ZIP; equal files give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as pack:
        for member, content in files.items():
            entry = zipfile.ZipInfo(member, _DATE)
            if PurePosixPath(member).suffix not in PACKED_SUFFIXES:
                entry.compress_type = zipfile.ZIP_DEFLATED
            pack.writestr(entry, content)
    return buffer.getvalue()


def same_block(ours: bytes, theirs: bytes) -> bool:
    """Return whether two ZIPs have the same files, however they are compressed."""
    if ours == theirs:
        return True
    source = Source("a copy", BLOCK, StoreError)
    try:
        return _unpack(ours, source) == _unpack(theirs, source)
    except StoreError:
        return False


def _unpack(content: bytes, source: Source) -> Files:
    if len(content) > source.limit.bytes_max:
        raise source.too_long()
    with open_pack(io.BytesIO(content), source) as pack:
        return {name: pack.read(name, source.limit.bytes_max) for name in pack.names}


def unpack_block(content: bytes, names: Collection[str], source: Source) -> list[PackedTrial]:
    """Return the trials of an untrusted ZIP, which must have these names.

    Validates records and the names of last frames. Raises the source's error for a damaged file or
    another block's, and `StoreError` for an invalid record.
    """
    trials: dict[str, dict[str, bytes]] = {}
    for member, read in _unpack(content, source).items():
        if not _MEMBER.fullmatch(member):
            raise source.refusal(f"`{excerpt(member)}` is not a file of a trial")
        name, _, file = member.partition("/")
        trials.setdefault(name, {})[file] = read
    if trials.keys() != set(names):
        raise source.refusal("its trials are not those of this block of the plan")
    return [_trial(name, trials[name], source) for name in names]


def _trial(name: str, files: dict[str, bytes], source: Source) -> PackedTrial:
    record = files.pop(RECORD_FILE, None)
    if record is None:
        raise source.refusal(f"trial {name} has no record")
    outcome = parse_record(record, name, f"{source.name}: {name}/{RECORD_FILE}")["outcome"]
    # Put a trial's record last, as `pack` does.
    return PackedTrial(name, str(outcome), {**files, RECORD_FILE: record}, {})


def pictures_in(files: Files, where: str) -> set[str]:
    """Return the names of the last images that these frames files refer to. Raises `StoreError`."""
    return {
        name_of_last(content, f"{where}: {file}")
        for file, content in files.items()
        if PurePosixPath(file).suffix == PurePosixPath(FRAMES_FILE).suffix
    }
