"""Store the messages of a load next to its record: header fields, sizes, short request bodies.

They are separate from the record, which every report reads: no metric needs them.
"""

import gzip
from collections.abc import Iterable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import check_size
from eyelevel.base.from_outside.limits import RECORD
from eyelevel.base.from_outside.packed import gunzip
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import json_bytes

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
