"""Measure how long edits of a recorded site of 6 MB take, against their bound.

A made site: a page of 200 kB, style sheets and scripts of 1.6 MB, compressed, the rest pictures.
Lists of edits of its markup, of its texts and of its codings, and the same by the command. Nothing
is asserted; `benchmarks/results` keeps results with their machine.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shared.command import HEADING, Figure, rounds
from eyelevel.plan.edits import Edit, parse_change
from eyelevel.sites.edits import write_edited
from eyelevel.sites.pack import SyntheticExchange, pack_site

HOSTS = {"shop.example": "192.0.2.1", "cdn.example": "192.0.2.2"}
SCRIPTS, SCRIPT_BYTES = 20, 70_000
PICTURES, PICTURE_BYTES = 56, 100_000
LISTS = {
    "three edits of the markup": ("preload:/0.jpg", "defer:/0.js", "lazy:img"),
    "ten edits, of everything": (
        "preload:/0.jpg", "preconnect:cdn.example", "defer:/*.js", "fetchpriority:/0.jpg",
        "lazy:img", "inline:/0.css", "font_display:swap", "block:third-parties", "header:x: y in *",
        "replace:word1 => word2 in /*.js",
    ),
    "encode as br:5": ("encode:br:5",),
    "encode as br:11": ("encode:br:11",),
    "encode as zstd:19": ("encode:zstd:19",),
    "encode as gzip:9": ("encode:gzip:9",),
}  # fmt: skip


def make_site(folder: Path) -> Path:
    """Write the site and return its file."""
    draw = random.Random(1)
    page = ["<!doctype html><html><head><title>shop</title><link rel=stylesheet href=/0.css>"]
    texts = [
        ("/0.css", "text/css", "@font-face{font-family:a;src:url(a.woff2)}" + _words(draw, 99))
    ]
    for number in range(SCRIPTS):
        page.append(f"<script src=/{number}.js></script>")
        script = f"/*{_words(draw, SCRIPT_BYTES)}*/"
        texts.append((f"/{number}.js", "text/javascript", script))
    page.extend(f"<p><img src=/{number}.jpg>" for number in range(PICTURES))
    page.append(f"<script src=https://cdn.example/x.js></script><p>{_words(draw, 200_000)}")
    url = "https://shop.example"
    exchanges = [SyntheticExchange(f"{url}/", "text/html", "".join(page).encode())]
    exchanges += [SyntheticExchange(url + path, kind, text.encode()) for path, kind, text in texts]
    exchanges += [
        SyntheticExchange(f"{url}/{number}.jpg", "image/jpeg", draw.randbytes(PICTURE_BYTES))
        for number in range(PICTURES)
    ]
    exchanges.append(SyntheticExchange("https://cdn.example/x.js", "text/javascript", b"x"))
    plain, out = folder / "plain.wacz", folder / "shop.wacz"
    pack_site(plain, exchanges, title="shop", addresses=HOSTS)
    write_edited(plain, _edits(("encode:br:5",)), out)
    return out


def _words(draw: random.Random, size_bytes: int) -> str:
    """Return letters that compress as a script does, by about four."""
    words = [f"word{draw.randrange(3000)}" for _ in range(size_bytes // 9 + 1)]
    return " ".join(words)[:size_bytes]


def _edits(texts: tuple[str, ...]) -> list[Edit]:
    found = [parse_change(text) for text in texts]
    return [edit for edit in found if edit is not None]


def measured(folder: Path, times: int) -> Iterator[Figure]:
    """Yield each figure, over rounds."""
    site = make_site(folder)
    print(f"{site.stat().st_size / 1e6:.1f} MB")
    for what, texts in LISTS.items():
        taken = []
        for _ in range(times):
            began = time.monotonic()
            write_edited(site, _edits(texts), folder / "out.wacz")
            taken.append(time.monotonic() - began)
        yield Figure(f"{what}, s", "<= 2", taken)
    taken = []
    changes = [word for text in LISTS["ten edits, of everything"] for word in ("--change", text)]
    command = ["-m", "eyelevel.cli.main", "site", "edit", str(site), *changes]
    for _ in range(times):
        began = time.monotonic()
        subprocess.run(
            [sys.executable, *command, "--out", str(folder / "out.wacz")],
            capture_output=True,
            check=True,
            timeout=600,
        )
        taken.append(time.monotonic() - began)
    yield Figure("the ten edits by the command, s", "<= 2", taken)


if __name__ == "__main__":
    number = rounds(__doc__, 5)
    print(HEADING)
    with tempfile.TemporaryDirectory() as temporary:
        for figure in measured(Path(temporary), number):
            print(figure.line())
