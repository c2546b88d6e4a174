"""List the exchanges of a recording."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.store.disk.folders import temporary_folder

_BINARY = ("image/", "font/", "video/", "audio/")
_ESCAPED = (("\\/", "/"), ("&amp;", "&"), ("\\u0026", "&"))

Texts = Mapping[str, str]
"""Recorded texts by URL, decoded."""


@dataclass(frozen=True)
class RecordedObject:
    """One recorded exchange."""

    method: str
    url: str
    body_bytes: int
    """Bytes of the response body, as sent."""


@dataclass(frozen=True)
class Contents:
    """The content of a recording."""

    objects: tuple[RecordedObject, ...]
    """Objects in recorded order; a server's `exchange` is an index of this."""
    texts: Texts
    """Recorded texts, with escaped slashes and ampersands unescaped."""


def bodies_of(archive: Path) -> list[JsonMapping]:
    """Return each recorded exchange's HAR `content`, in recorded order.

    Raises `LabError` for a damaged or missing file.
    """
    return [entry["response"]["content"] for entry in _entries(archive)]


def _entries(archive: Path) -> list[JsonObject]:
    with temporary_folder("contents") as folder:
        har = folder / "site.har"
        run_tool(["archive", "export", str(archive), "--har", str(har)])
        entries: list[JsonObject] = json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]
    return entries


def contents_of(archive: Path) -> Contents:
    """Read a recording; raises `LabError` for a damaged or missing file."""
    objects = []
    texts: dict[str, str] = {}
    for entry in _entries(archive):
        request, response = entry["request"], entry["response"]
        objects.append(RecordedObject(request["method"], request["url"], response["bodySize"]))
        content = response["content"]
        # A comment marks a body in an encoding that the archive's reader does not support.
        if content["comment"] or content["mimeType"].startswith(_BINARY):
            continue
        plain = base64.b64decode(content["text"]).decode("utf-8", "replace")
        for written, meant in _ESCAPED:
            plain = plain.replace(written, meant)
        texts.setdefault(request["url"], plain)
    return Contents(tuple(objects), texts)
