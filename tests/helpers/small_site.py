"""A recorded site of one page, its style and one picture: loads that need no more are short."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pages import image

from eyelevel.lab.binary import run_tool

PAGE_URL = "https://small.example/"
PAGE = (
    b"<!doctype html><title>small</title><link rel=stylesheet href=/style.css>"
    b"<link rel=icon href=data:,><h1>A heading</h1><img src=/picture.png width=200 height=100>"
)
BODIES = {
    "": ("text/html", PAGE),
    "style.css": ("text/css", b"body { margin: 0; background: rgb(230, 230, 255) }"),
    "picture.png": ("image/png", image(120)),
}


CAPITAL_BYTES = 5000
QUERIES_PAGE = (
    b"<!doctype html><title>queries</title><link rel=stylesheet href='/style?v=1&w=%20'>"
    b"<link rel=icon href=data:,><h1>A heading</h1><script src='/code?id=a'></script>"
    b"<script src='/code?id=A'></script><script src='/clock?now=2'></script>"
)
QUERIES = {
    "?view=all": ("text/html; charset=utf-8", QUERIES_PAGE),
    "style?v=1&w=%20": ("text/css", b"h1 { color: rgb(1, 2, 3) }"),
    "code?id=a": ("text/javascript", b"window.small = 1"),
    "code?id=A": ("text/javascript", b"window.capital = 1" + b" " * CAPITAL_BYTES),
    "clock?now=1": ("text/javascript", b"window.clock = true; // recorded at another time"),
}
"""Answers that only the query tells apart, or its letters' case, and one to a changed query."""


def pack_small_site(
    folder: Path,
    bodies: dict[str, tuple[str, bytes]] = BODIES,
    main_path: str = "",
    address: str = "192.0.2.10",
) -> Path:
    """The site as an archive in `folder`, recorded from this address."""
    answers = [
        Answer(path, body, [("content-type", content_type)])
        for path, (content_type, body) in bodies.items()
    ]
    return pack_answers(folder, answers, main_path=main_path, address=address)


@dataclass(frozen=True)
class Answer:
    """A recorded answer: its path below `PAGE_URL`, and what was sent."""

    path: str
    body: bytes
    fields: Sequence[tuple[str, str]]
    status: int = 200


def pack_answers(
    folder: Path,
    answers: Sequence[Answer],
    *,
    main_path: str = "",
    address: str = "192.0.2.10",
    created_at: str = "2026-01-01T00:00:00Z",
) -> Path:
    """Pack answers of one host, recorded from this address, as an archive in `folder`."""
    exchanges = []
    for number, each in enumerate(answers):
        (folder / str(number)).write_bytes(each.body)
        exchange = {"url": PAGE_URL + each.path, "file": str(number), "status": each.status}
        exchanges.append(exchange | {"headers": list(each.fields)})
    manifest = {
        "title": "small",
        "description": "Made by a test",
        "main_url": PAGE_URL + main_path,
        "created_at": created_at,
        "addresses": {"small.example": address},
        "exchanges": exchanges,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    archive = folder / "small.wacz"
    run_tool(["archive", "pack", str(folder / "manifest.json"), "--out", str(archive)])
    return archive
