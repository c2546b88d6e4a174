"""Validate a browser's messages before use, by type and bounds (pure).

The browser runs untrusted pages. Tables define the type of each event and result that we use, with
the fields that we use: events without a type are ignored, unknown keys are dropped, and a message
that does not match its type ends the load (`BrowserMessageError`).
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import Field, TypeAdapter, ValidationError

from eyelevel.base.errors import BrowserMessageError, PageAnswerError
from eyelevel.base.json_types import JsonObject

MESSAGE_BYTES_MAX = 64 << 20
"""Maximum length of a message; a frame or a chunk of a trace is far shorter."""


Seconds = Annotated[float, Field(ge=0, le=1e10, allow_inf_nan=False)]
"""Seconds on any clock."""

Milliseconds = Annotated[float, Field(ge=0, le=1e14, allow_inf_nan=False)]
"""Milliseconds on any clock, including wall time."""

Offset = Annotated[float, Field(ge=-1e10, le=1e10, allow_inf_nan=False)]
"""A time difference; browsers send -1 for none."""

Bytes = Annotated[float, Field(ge=-1, le=1e15, allow_inf_nan=False)]
"""A number of bytes; browsers send -1 for unknown."""

Status = Annotated[int, Field(ge=0, le=999)]
Number = Annotated[int, Field(ge=-(2**53), le=2**53)]

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class Messages:
    """Types of a browser's events and of its command results, by method."""

    def __init__(self, events: Mapping[str, object], answers: Mapping[str, object]) -> None:
        self._events = _adapters(events)
        self._answers = _adapters(answers)

    def event(self, method: str, parameters: object) -> JsonObject | None:
        """Return the fields of an event that we use; None if we use none.

        Raises `BrowserMessageError`.
        """
        shape = self._events.get(method)
        return None if shape is None else _check(shape, method, parameters)

    def answer(self, method: str, result: object) -> JsonObject:
        """Return the fields of a command's result that we use. Raises `BrowserMessageError`."""
        shape = self._answers.get(method)
        return {} if shape is None else _check(shape, f"the answer to {method}", result)


def _adapters(shapes: Mapping[str, object]) -> dict[str, TypeAdapter[JsonObject]]:
    return {method: TypeAdapter(cast(type[JsonObject], shape)) for method, shape in shapes.items()}


def _check(shape: TypeAdapter[JsonObject], name: str, value: object) -> JsonObject:
    try:
        return shape.validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "all of it"
        raise BrowserMessageError(
            f"the browser sent a malformed message: {name}: {place[:80]}: {first['msg']}"
        ) from error


def parse_message(raw: bytes | str) -> JsonObject:
    """Parse a command's reply or an event as JSON; raises `BrowserMessageError`."""
    try:
        text = raw if isinstance(raw, str) else raw.decode(errors="replace")
        message = json.loads(text)
        if _SURROGATE.search(text):
            # A lone surrogate: pages can send it, but UTF-8 cannot encode it.
            message = json.loads(
                json.dumps(message, ensure_ascii=False).encode(errors="replace").decode()
            )
    except (ValueError, RecursionError) as error:
        raise BrowserMessageError("the browser sent a message that is not JSON") from error
    if not isinstance(message, dict):
        raise BrowserMessageError("the browser sent a message that is not an object")
    return message


def text_of(message: JsonObject, name: str, otherwise: str = "") -> str:
    """Return a text field of a message's envelope.

    Raises `BrowserMessageError` for another type.
    """
    value = message.get(name, otherwise)
    if not isinstance(value, str):
        raise BrowserMessageError(f"the browser sent a malformed message: {name} is no text")
    return value


def parse_answer(text: str) -> object:
    """Parse a page's reply as JSON; raises `PageAnswerError`."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PageAnswerError("the page's answer is not JSON") from error
    return value


def bytes_of(base64_text: str) -> bytes:
    """Decode base64; raises `BrowserMessageError` if it is invalid."""
    try:
        return base64.b64decode(base64_text, validate=True)
    except ValueError as error:
        raise BrowserMessageError("the browser sent something that is not base64") from error


def first_line(text: str) -> str:
    """Return the first non-empty line of a browser's text, at most 500 characters, for messages."""
    return next((line[:500] for line in text.splitlines() if line.strip()), "no reason given")


def refusal_of(error: object) -> str:
    """Return the error text of a refused command, at most 500 characters."""
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:500]
