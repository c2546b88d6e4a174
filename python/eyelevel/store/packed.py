"""A trial as bytes: the files of its folder, and the images that a run's trials share.

It is packed where the load ran, so that the committing process, which may serve many machines, only
writes bytes.

Store the messages of a load next to its record: header fields, sizes, short request bodies.

They are separate from the record, which every report reads: no metric needs them.
"""

import gzip
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import check_size
from eyelevel.base.from_outside.limits import RECORD
from eyelevel.base.from_outside.packed import gunzip
from eyelevel.base.from_outside.source import Source
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
    """The trial's row in the run's table (`eyelevel.analysis.trials.facts`), if it was computed."""


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


MESSAGES_FILE = "messages.json.gz"
EFFORT = 6


class Message(TypedDict):
    """A request and its response without timing (spec/run-record.md)."""

    request_fields: list[tuple[str, str]]
    request_body: str | None
    status_text: str
    response_fields: list[tuple[str, str]]
    response_head_bytes: int | None
    content_bytes: int | None


class _File(TypedDict):
    objects: list[Message | None]


_FILE: TypeAdapter[_File] = TypeAdapter(_File)


def pack_messages(messages: Iterable[JsonMapping | None]) -> bytes:
    """Return the file's bytes, with one entry per entry of the record's `objects`, in order."""
    return gzip.compress(json_bytes({"objects": list(messages)}), EFFORT, mtime=0)


def read_messages(trial: Path, objects: int) -> list[Message | None] | None:
    """Return the messages of a trial's `objects` objects; None if none were stored.

    Raises `StoreError` for a damaged file, or one with another number of objects.
    """
    file = trial / MESSAGES_FILE
    if not file.exists():
        return None
    source = Source(str(file), RECORD, StoreError)
    content = gunzip(read_bytes(str(file), source), source)
    check_size(content, source)
    try:
        found = _FILE.validate_json(content)["objects"]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "all of it"
        raise source.refusal(f"{place}: {first['msg']}") from error
    if len(found) != objects:
        raise source.refusal(f"it has {len(found)} messages for {objects} objects")
    return found
