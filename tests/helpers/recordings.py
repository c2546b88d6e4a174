"""Small recordings in the formats of other tools, made here, and real ones where they are."""

import json
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from labs import CORPUS
from repository import ROOT

from eyelevel.lab.binary import run_tool

SHARED = ROOT.parent / "shared" / "data" / "sites"


def real_recordings() -> Path:
    """The folder of other people's recordings; skips where it is not there."""
    if not SHARED.is_dir():
        pytest.skip(f"the recordings of others are not in {SHARED}")
    return SHARED


def as_mahimahi(folder: Path, site: str = "plain") -> Path:
    """A shipped site as a folder of Mahimahi's."""
    run_tool(["archive", "export", str(CORPUS / f"{site}.wacz"), "--mahimahi", str(folder)])
    return folder


def as_har(file: Path, site: str = "plain") -> Path:
    """A shipped site as a HAR file."""
    run_tool(["archive", "export", str(CORPUS / f"{site}.wacz"), "--har", str(file)])
    return file


def har_of(file: Path, url: str, text: str = "<p>a page") -> Path:
    """A HAR file of one page."""
    content = {"mimeType": "text/html", "text": text, "size": len(text)}
    request = {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "headers": []}
    response = {
        "status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "content": content,
        "headers": [{"name": "content-type", "value": "text/html"}],
    }  # fmt: skip
    entry = {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1}
    log = {"version": "1.2", "entries": [entry | {"request": request, "response": response}]}
    file.write_text(json.dumps({"log": log}))
    return file


def pack_answers(folder: Path, answers: Sequence[tuple[str, int, str]]) -> Path:
    """A recording in `folder` of pages without bodies: of each its URL, status, and where it sends
    to. The first is the recording's."""
    exchanges = []
    for url, status, location in answers:
        headers = [["content-type", "text/html"], *([["location", location]] if location else [])]
        exchanges.append({"url": url, "status": status, "headers": headers})
    main_url = answers[0][0]
    about = {"title": "x", "main_url": main_url, "created_at": "2026-01-01T00:00:00Z"}
    about |= {"addresses": {urlsplit(main_url).hostname: "192.0.2.1"}, "exchanges": exchanges}
    manifest, made = folder / "manifest.json", folder / "x.wacz"
    manifest.write_text(json.dumps(about))
    run_tool(["archive", "pack", str(manifest), "--out", str(made)])
    return made
