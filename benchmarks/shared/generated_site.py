"""Recorded sites made for a measurement: so many origins, objects of such a size."""

import json
from pathlib import Path

from eyelevel.lab.binary import run_tool


def pack(folder: Path, bodies: dict[str, tuple[str, bytes]], addresses: dict[str, str]) -> Path:
    """Pack `url -> (content type, body)` as a WACZ in `folder`; the first URL is the page."""
    exchanges = []
    for number, (url, (content_type, body)) in enumerate(bodies.items()):
        (folder / str(number)).write_bytes(body)
        headers = [["content-type", content_type]]
        exchanges.append({"url": url, "file": str(number), "headers": headers})
    manifest = {
        "title": "made for a measurement",
        "main_url": next(iter(bodies)),
        "created_at": "2026-01-01T00:00:00Z",
        "addresses": addresses,
        "exchanges": exchanges,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    site = folder / "site.wacz"
    run_tool(["archive", "pack", str(folder / "manifest.json"), "--out", str(site)])
    return site


def one_large_object(folder: Path, size_bytes: int) -> Path:
    """A page whose only object is a script of this size: comments, cheap to parse."""
    page = b"<!doctype html><link rel=icon href=data:,><script src=/large.js></script>"
    line = b"// " + b"0123456789abcdef" * 64 + b"\n"
    body = (line * (size_bytes // len(line) + 1))[: size_bytes - 1] + b"\n"
    bodies = {
        "https://large.example/": ("text/html", page),
        "https://large.example/large.js": ("text/javascript", body),
    }
    return pack(folder, bodies, {"large.example": "192.0.2.1"})


def many_origins(folder: Path, origins: int) -> Path:
    """A page that loads one small image from each of so many origins."""
    hosts = [f"origin{number}.example" for number in range(origins)]
    image = b"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"
    images = {f"https://{host}/dot.svg": ("image/svg+xml", image) for host in hosts}
    tags = "".join(f"<img src={url}>" for url in images)
    page = f"<!doctype html><link rel=icon href=data:,>{tags}".encode()
    bodies = {f"https://{hosts[0]}/": ("text/html", page), **images}
    return pack(folder, bodies, {h: f"192.0.2.{n + 1}" for n, h in enumerate(hosts)})
