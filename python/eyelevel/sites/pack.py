"""Pack a generated site as a recording (spec/archive.md)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eyelevel.base.json_types import JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.store.disk import temporary_folder

CREATED_AT = "2026-01-01T00:00:00Z"
"""Date of every generated site, so that equal sites have equal bytes."""

FOR_ALL = ("access-control-allow-origin", "*")
"""Header of objects that other origins may read."""


@dataclass(frozen=True)
class SyntheticExchange:
    """One object of a generated site; `initiator` is the URL of the object that requests it."""

    url: str
    content_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = (FOR_ALL,)
    initiator: str | None = None


def pack_site(out: Path, exchanges: Sequence[SyntheticExchange], **about: Any) -> JsonObject:
    """Write the archive and return its `archive info`; raises `LabError`.

    The first exchange is the page. `about` has the manifest's other keys: `title`, `addresses`, ...
    """
    entries = []
    with temporary_folder("site") as folder:
        for number, exchange in enumerate(exchanges):
            (folder / str(number)).write_bytes(exchange.body)
            headers = [("content-type", exchange.content_type), *exchange.headers]
            entry = {"url": exchange.url, "file": str(number), "headers": headers}
            if exchange.initiator is not None:
                entry["initiator"] = exchange.initiator
            entries.append(entry)
        site = {"main_url": exchanges[0].url, "created_at": CREATED_AT, "exchanges": entries}
        manifest = folder / "manifest.json"
        manifest.write_text(json.dumps(site | about), encoding="utf-8")
        info: JsonObject = run_tool(["archive", "pack", str(manifest), "--out", str(out)])
    return info
