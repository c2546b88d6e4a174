"""A site with what real ones have, packed for a lab to serve: several origins, redirects, content
codings, a font, a service worker, a lazy image, fetches with random queries."""

import gzip
import json
from pathlib import Path

from labs import CORPUS
from pages import image

from eyelevel.lab.binary import run_tool

MAIN = "https://made.example/"
WWW, STATIC = "https://www.made.example", "https://static.made.example"
IMAGES, API = "https://images.example", "https://api.example"
ADDRESSES = {
    "made.example": "192.0.2.1",
    "www.made.example": "192.0.2.1",
    "static.made.example": "192.0.2.2",
    "images.example": "198.51.100.1",
    "api.example": "198.51.100.2",
}

PAGE = f"""<!doctype html><title>made</title><link rel=icon href=data:,>
<link rel=stylesheet href={STATIC}/style.css><script src={STATIC}/app.js></script>
<h1>A heading</h1><button id=more onclick="later('{WWW}/more.json')">More</button>
<img src={IMAGES}/moved.png width=200 height=100>
<img id=far loading=lazy src={IMAGES}/far.png width=200 height=100 style="margin-top:9000px">"""
STYLE = f"""@font-face {{ font-family: made; src: url({STATIC}/made.woff2) }}
h1 {{ font-family: made; background: url({IMAGES}/back.png) }}"""
SCRIPT = f"""const later = (url) => fetch(url).then((answer) => answer.json());
later('{API}/items?page=1&nocache=' + Math.random());
later('{API}/time?now=' + Date.now() + '&id=' + crypto.randomUUID());
addEventListener('load', () => document.querySelector('#far').scrollIntoView());
navigator.serviceWorker.addEventListener('controllerchange', () => later('/through-worker.json'));
navigator.serviceWorker.register('/worker.js');"""
WORKER = """addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => event.respondWith(fetch(event.request)));"""


def zstd(data: bytes) -> bytes:
    """One frame with one stored block (RFC 8878, section 3.1.1); `data` below 64 kB."""
    # Single segment, content size in two bytes, of which 256 is taken.
    head = b"\x28\xb5\x2f\xfd\x60" + (len(data) - 256).to_bytes(2, "little")
    return head + (len(data) << 3 | 1).to_bytes(3, "little") + data


def br(data: bytes) -> bytes:
    """One stored meta-block and an empty last one (RFC 7932, section 9.2); `data` below 64 kB."""
    head = (len(data) - 1) << 4 | 1 << 20
    return head.to_bytes(3, "little") + data + b"\x03"


CODINGS = {"gzip": lambda data: gzip.compress(data, mtime=0), "br": br, "zstd": zstd}


def pack_generated_site(folder: Path) -> Path:
    """The site as a recording in `folder`."""
    exchanges = []

    def answer(url: str, kind: str, body: bytes, coding: str = "", **fields: str) -> None:
        name = str(len(exchanges))
        coded = CODINGS[coding](body) if coding else body
        (folder / name).write_bytes(coded)
        headers = [["content-type", kind], ["access-control-allow-origin", "*"]]
        headers += [["content-encoding", coding]] if coding else []
        exchanges.append({"url": url, "file": name, "headers": headers + list(fields.items())})

    def redirect(url: str, to: str) -> None:
        exchanges.append({"url": url, "status": 302, "headers": [["location", to]]})

    redirect(MAIN, f"{WWW}/")
    answer(f"{WWW}/", "text/html", PAGE.encode(), "gzip")
    answer(f"{STATIC}/style.css", "text/css", STYLE.encode(), "br")
    answer(f"{STATIC}/app.js", "text/javascript", SCRIPT.encode(), "zstd")
    answer(f"{STATIC}/made.woff2", "font/woff2", _font(folder))
    redirect(f"{IMAGES}/moved.png", f"{IMAGES}/there.png")
    for number, name in enumerate(("there", "far", "back")):
        answer(f"{IMAGES}/{name}.png", "image/png", image(80 * number))
    answer(f"{API}/items?page=1&nocache=0.123456789", "application/json", b'{"items": 3}')
    answer(f"{API}/time?now=1700000000000&id=0", "application/json", b'{"time": 1}')
    answer(f"{WWW}/worker.js", "text/javascript", WORKER.encode())
    answer(f"{WWW}/through-worker.json", "application/json", b'{"worker": true}')
    answer(f"{WWW}/more.json", "application/json", b'{"more": true}')
    manifest = folder / "manifest.json"
    about = {"title": "made", "main_url": MAIN, "created_at": "2026-01-01T00:00:00Z"}
    manifest.write_text(json.dumps(about | {"addresses": ADDRESSES, "exchanges": exchanges}))
    out = folder / "made.wacz"
    run_tool(["archive", "pack", str(manifest), "--out", str(out)])
    return out


def _font(folder: Path) -> bytes:
    files = folder / "dashboard"
    run_tool(["archive", "export", str(CORPUS / "dashboard.wacz"), "--files", str(files)])
    return min(files.rglob("*.woff2"), key=lambda path: path.stat().st_size).read_bytes()
