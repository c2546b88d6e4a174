"""The layout of a run's directory, and validated reading of its content.

`eyelevel.store.commit` writes trials.

Validate a run's own documents against their schemas. The schema of `stop.json`: the decisions that
end a study early (spec/plan.md).
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NotRequired, TypeVar, cast

from pydantic import Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import check_size, may_have_wild_numbers, parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, PLAN_DOCUMENT
from eyelevel.base.from_outside.limits import RECORD as RECORD_LIMIT
from eyelevel.base.from_outside.packed import gunzip
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.store.disk import DRAFT_PREFIX, refusal_of_writing, remove_orphan, write_whole
from eyelevel.store.frames import Frames, read_frames
from eyelevel.store.pictures import PICTURES
from eyelevel.store.schema import RECORD, RECORD_VERSION, hash_of_key
from eyelevel.store.values import OBSERVED, Number

TRIALS = "trials"
RECORD_FILE = "record.json.gz"
FRAMES_FILE = "frames.npz"
PLAN_FILE = "plan.json"
ENVIRONMENT_FILE = "environment.json"
STOP_FILE = "stop.json"
FETCH_FILE = "fetch.json"
"""File that marks a directory as being fetched from a bucket; it names the run."""
LOGS = "logs"
"""Folder of a trial's logs of connections and packets."""


@dataclass(frozen=True)
class StoredTrial:
    """One validated record, as JSON, with the folder that has its frames."""

    path: Path
    record: JsonMapping

    def frames(self) -> Frames:
        """Return the load's frames, empty if none were captured. Raises `StoreError` if damaged."""
        return read_trial_frames(self.path.parent.parent, self.path.name)

    def step_frames(self) -> tuple[Frames, ...]:
        """Return the frames of each step after the load."""
        steps = self.record.get("after_load", ())
        files = [self.path / step_frames_file(number) for number in range(1, len(steps) + 1)]
        return tuple(read_frames(file, self._pictures) for file in files)

    @property
    def _pictures(self) -> Path:
        return self.path.parent.parent / PICTURES


def step_frames_file(number: int) -> str:
    """Return the name of the frames file of a step after the load, counted from 1."""
    return f"after-load-{number}.npz"


def read_trial(directory: Path, name: str) -> StoredTrial:
    """Read one trial by its hash; raises `StoreError` if absent, damaged or of another version."""
    path = directory / TRIALS / name
    return StoredTrial(path, parse_record(read_record_file(str(path)), name, path / RECORD_FILE))


def read_trial_frames(directory: Path, name: str) -> Frames:
    """Read only a trial's frames, by its hash; raises as `StoredTrial.frames` does."""
    return read_frames(directory / TRIALS / name / FRAMES_FILE, directory / PICTURES)


def read_record_file(folder: str) -> bytes:
    """Return the compressed record in a trial's `folder`; raises `StoreError` without one."""
    file = f"{folder}/{RECORD_FILE}"
    return read_bytes(file, Source(file, RECORD_LIMIT, StoreError))


def has_record(folder: Path) -> bool:
    """Return whether `folder` is a trial's."""
    return (folder / RECORD_FILE).exists()


def parse_record(compressed: bytes, name: str, file: Path | str) -> JsonObject:
    """Parse a record from `file`'s bytes, checking schema, hash and `name`.

    Raises `StoreError` as `read_trial` does.
    """
    source = Source(str(file), RECORD_LIMIT, StoreError)
    content = gunzip(compressed, source)
    check_size(content, source)
    try:
        record = cast(JsonObject, RECORD.validate_json(content))
    except ValidationError:
        record = parse_object(content, source)  # raises a more precise error
        check_record(record, str(file))
    else:
        if b"NaN" in content or b"Infinity" in content or may_have_wild_numbers(content):
            parse_object(content, source)
        _check_hash(record, str(file))
        _check_together(record, str(file))
    if record["trial"]["hash"] != name:
        raise StoreError(
            f"reading {file}: it is the record of trial {record['trial']['hash']}; rename "
            "it accordingly"
        )
    return record


def list_committed(directory: Path) -> set[str]:
    """Return the hashes of all committed trials, from one listing of the directory."""
    try:
        with os.scandir(directory / TRIALS) as entries:
            return {entry.name for entry in entries if not entry.name.startswith(".")}
    except FileNotFoundError:
        return set()


def iterate_trials(directory: Path) -> Iterator[StoredTrial]:
    """Yield all committed trials in order of their hashes; raises `StoreError` at a damaged one."""
    for name in sorted(list_committed(directory)):
        yield read_trial(directory, name)


def missing(directory: Path, hashes: Iterable[str]) -> list[str]:
    """Return the hashes that are not committed yet, in the given order."""
    there = list_committed(directory)
    return [name for name in hashes if name not in there]


def remove_leftovers(directory: Path) -> int:
    """Remove drafts of killed writers, not those of live ones; returns how many were removed."""
    folders = directory, directory / TRIALS, directory / PICTURES
    drafts = [path for folder in folders for path in folder.glob(f"{DRAFT_PREFIX}*")]
    return sum(_remove(draft) for draft in drafts)


def _remove(draft: Path) -> bool:
    try:
        return remove_orphan(draft)
    except OSError:
        return False


def write_document(directory: Path, name: str, value: JsonMapping) -> None:
    """Write `plan.json` or `environment.json` atomically.

    Raises `StoreError` if the disk refuses.
    """
    with refusals(directory / name):
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(directory / name, json_bytes(value))


def create_document(directory: Path, name: str, value: JsonMapping) -> bool:
    """Create a document that is never replaced; returns whether it is new.

    On a disk without locks the kernel decides that.
    """
    with refusals(directory / name):
        directory.mkdir(parents=True, exist_ok=True)
        try:
            write_whole(directory / name, json_bytes(value), is_new=True)
        except FileExistsError:
            return False
        return True


def read_document(directory: Path, name: str) -> JsonObject:
    """Read `plan.json` or `environment.json`; raises `StoreError` if absent or damaged."""
    file = directory / name
    limit = PLAN_DOCUMENT if name == PLAN_FILE else DOCUMENT
    source = Source(str(file), limit, StoreError)
    return parse_object(read_bytes(file, source), source)


def check_record(record: JsonMapping, subject: str) -> None:
    """Raise `StoreError`, naming `subject` and the key, if the record violates the schema."""
    version = record.get("version") if isinstance(record, Mapping) else None
    if version != RECORD_VERSION or not isinstance(version, int):
        raise StoreError(
            f"reading {subject}: record version {excerpt(repr(version))}, but this eyelevel reads "
            f"version {RECORD_VERSION}; use the eyelevel that wrote it"
        )
    try:
        RECORD.validate_python(record)
    except ValidationError as error:
        first = error.errors()[0]
        where = excerpt(".".join(str(part) for part in first["loc"]))
        more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
        raise StoreError(
            f"reading {subject}: `{where}`: {first['msg']}{more}; it is damaged, or another "
            "version of eyelevel wrote it: use that one"
        ) from error
    _check_hash(record, subject)
    _check_together(record, subject)


def _check_hash(record: JsonMapping, subject: str) -> None:
    if (expected := hash_of_key(record["trial"])) != record["trial"]["hash"]:
        raise StoreError(
            f"reading {subject}: its settings hash to {expected}, not to "
            f"{record['trial']['hash']}; the record was changed after it was written, so restore it"
        )


def _check_together(record: JsonMapping, subject: str) -> None:
    """Check values that depend on each other.

    Page timings need the time of navigation start, and the arrays of a timeline have equal lengths.
    """
    path = record["path"]
    known = record["browser"].get("navigation_start_ns") is not None
    fault = ""
    if ((path and record["navigation"]) or record.get("after_load")) and not known:
        fault = "`browser.navigation_start_ns` is missing though the page was loaded"
    for way in ("down", "up") if path else ():
        timeline = path[way].get("timeline")
        if timeline and len(timeline["released_bytes"]) != len(timeline["inside_bytes_max"]):
            fault = f"`path.{way}.timeline` has lists of different length"
    if fault:
        raise StoreError(
            f"reading {subject}: {fault}; it is damaged, or another version of eyelevel wrote "
            "it: use that one"
        )


def json_bytes(value: JsonMapping) -> bytes:
    """Return a value as one line of compact JSON, with a newline."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


@contextlib.contextmanager
def refusals(target: Path) -> Iterator[None]:
    """Convert `OSError` in the block to a `StoreError` that names `target`.

    The error of a full disk names no file, and a temporary file's name means nothing to users.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"writing {target}: {refusal_of_writing(error, target)}; whatever was complete is kept"
        ) from error


RESTORE = "restore it from where the run was copied from"

T = TypeVar("T")


def check_document(
    schema: TypeAdapter[T], document: JsonMapping, file: Path | str, remedy: str = RESTORE
) -> T:
    """Validate a document against `schema`; raises `StoreError` naming the first invalid value."""
    try:
        return schema.validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        key = excerpt(".".join(str(part) for part in first["loc"]))
        raise StoreError(f"reading {file}: `{key}`: {first['msg']}; {remedy}") from error


Repetition = Annotated[int, Field(ge=1, lt=2**31)]


@with_config(OBSERVED)
class Decided(TypedDict):
    """Decision on one comparison and network.

    `repetition`: the last one before the decision, null while it is open; `width`: width of its
    interval at that time, as a share.
    """

    network: str
    stack: str
    reference: str
    repetition: Repetition | None
    width: NotRequired[Number | None]


@with_config(OBSERVED)
class Stopped(TypedDict):
    """The last repetition before everything was decided, or null, and that of each network."""

    version: int
    repetition: Repetition | None
    reason: str
    networks: dict[str, Repetition]
    comparisons: list[Decided]


STOPPED: TypeAdapter[Stopped] = TypeAdapter(Stopped)
