"""Validate a run's own documents against their schemas."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping

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
