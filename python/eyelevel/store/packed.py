"""A trial as bytes: the files of its folder, and the images that a run's trials share.

It is packed where the load ran, so that the committing process, which may serve many machines, only
writes bytes.
"""

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from eyelevel.base.errors import StoreError
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import (
    FRAMES_FILE,
    RECORD_FILE,
    check_record,
    json_bytes,
    parse_record,
    step_frames_file,
)
from eyelevel.store.frames import Frames
from eyelevel.store.pictures import pack_picture, picture_name

RECORD_EFFORT = 6


@dataclass(frozen=True)
class PackedTrial:
    """One trial with a validated record."""

    name: str
    """Hash of the trial."""
    outcome: str
    files: Mapping[str, bytes]
    """Files by name in the trial's folder; the record is the last one."""
    pictures: Mapping[str, bytes]
    """Images of its last frames by name, without those that the receiver has."""
    digest: str = ""
    """Digest of all these bytes, computed at packing; "" for files read from disk."""
    failed_attempts: int = 0
    """Number of failed attempts before the recorded one."""
    row: tuple[object, ...] | None = None
    """The trial's row in the run's table (`eyelevel.analysis.trials.rows`), if it was computed."""


def pack(
    record: JsonMapping,
    frames: Frames | None = None,
    step_frames: Sequence[Frames] = (),
    logs: Mapping[str, bytes] = MappingProxyType({}),
    is_known: Callable[[str], bool] = lambda _: False,
) -> PackedTrial:
    """Pack a trial; equal trials give equal bytes.

    `is_known` returns whether an image of this name need not be included. Raises `StoreError` for a
    record that violates the schema, so that an unreadable record is never written.
    """
    name = record["trial"]["hash"]
    check_record(record, f"trial {name}")
    films = {FRAMES_FILE: frames}
    films |= {step_frames_file(number): each for number, each in enumerate(step_frames, start=1)}
    files: dict[str, bytes] = {}
    pictures: dict[str, bytes] = {}
    for file, film in films.items():
        if film:
            last = film.last()
            files[file] = film.to_bytes(of_last := picture_name(last))
            if of_last not in pictures and not is_known(of_last):
                pictures[of_last] = pack_picture(last)
    # No timestamp in the gzip header: equal records give equal bytes.
    content = gzip.compress(json_bytes(record), RECORD_EFFORT, mtime=0)
    files |= {**logs, RECORD_FILE: content}
    digest, failed = _digest(files, pictures), len(record.get("retried", ()))
    return PackedTrial(name, str(record["outcome"]), files, pictures, digest, failed)


def check_unpacked(packed: PackedTrial) -> None:
    """Raise `StoreError` unless the digest matches and the record is valid."""
    subject = f"what came of trial {packed.name}"
    if _digest(packed.files, packed.pictures) != packed.digest:
        raise StoreError(
            f"{subject} has another digest than it was sent with; it was damaged: run it again"
        )
    parse_record(packed.files[RECORD_FILE], packed.name, Path(subject) / RECORD_FILE)


def _digest(files: Mapping[str, bytes], pictures: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in (*files.items(), *pictures.items()):
        digest.update(f"{name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
