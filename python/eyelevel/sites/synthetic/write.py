"""Write synthetic sites as recordings: their shapes as bodies that a browser asks for."""

import json
import tempfile
from pathlib import Path
from typing import Any

from eyelevel.lab.binary import run_tool
from eyelevel.sites.synthetic.shapes import EXTENSIONS, PAGE, ObjectShape, SiteShape

_TYPES = {
    "document": "text/html; charset=utf-8",
    "image": "image/svg+xml",
    "script": "text/javascript",
    "style": "text/css",
    "font": "font/woff2",
    "data": "application/json",
}
_SVG = "<svg xmlns='http://www.w3.org/2000/svg'/>"
_LOADER = """for (const url of %s) {
 if (url.endsWith('js')) {
  const added = document.createElement('script');
  added.src = url;
  document.documentElement.append(added);
 } else if (url.endsWith('json')) fetch(url);
 else new Image().src = url;
}"""


def write_site(shape: SiteShape, name: str, out: Path) -> dict[str, Any]:
    """Write one site and return what `archive info` says of it; raises LabError."""
    urls = urls_of(shape)
    with tempfile.TemporaryDirectory(prefix="eyelevel-") as folder:
        manifest = Path(folder) / "manifest.json"
        exchanges = []
        for place, item in enumerate(shape.objects):
            (Path(folder) / str(place)).write_text(body(shape, place, urls), encoding="ascii")
            headers = [["content-type", _TYPES[item.kind]], ["access-control-allow-origin", "*"]]
            entry = {"url": urls[place], "file": str(place), "headers": headers}
            if place != PAGE:
                entry["initiator"] = urls[item.parent]
            exchanges.append(entry)
        about = {
            "title": name,
            "description": "Synthetic: shaped like published distributions, of filler",
            "main_url": urls[PAGE],
            "created_at": "2026-01-01T00:00:00Z",
            # The benchmark block (RFC 2544); a site has far fewer than 250 origins.
            "addresses": {f"o{n}.example": f"198.18.1.{n + 1}" for n in range(shape.origins)},
            "exchanges": exchanges,
            "source": "synth",
        }
        manifest.write_text(json.dumps(about), encoding="utf-8")
        info: dict[str, Any] = run_tool(["archive", "pack", str(manifest), "--out", str(out)])
    return info


def urls_of(shape: SiteShape) -> list[str]:
    """Every object's URL."""
    return [
        f"https://o{item.origin}.example/"
        + ("" if place == PAGE else f"{place}.{EXTENSIONS[item.kind]}")
        for place, item in enumerate(shape.objects)
    ]


def body(shape: SiteShape, place: int, urls: list[str]) -> str:
    """What makes a browser ask for the object's children, filled up to its bytes."""
    item = shape.objects[place]
    children = [
        at for at, child in enumerate(shape.objects) if at != PAGE and child.parent == place
    ]
    text, before, after = {
        "document": (_document(shape, children, urls), "<!--", "-->"),
        "image": (_SVG, "<!--", "-->"),
        "script": (_script(children, urls), "/*", "*/"),
        "style": (_style(shape, children, urls), "/*", "*/"),
        "font": ("", "", ""),
        "data": ("1", "", ""),
    }[item.kind]
    room = item.bytes - len(text) - len(before) - len(after)
    if item.kind in ("font", "data"):
        return text + " " * (item.bytes - len(text))
    return text + (before + "x" * room + after if room >= 0 else " " * (item.bytes - len(text)))


def _document(shape: SiteShape, children: list[int], urls: list[str]) -> str:
    parts = ["<!doctype html><title>synthetic</title><link rel=icon href=data:,>"]
    for at in children:
        kind, url = shape.objects[at].kind, urls[at]
        if kind == "style":
            parts.append(f"<link rel=stylesheet href={url}>")
        elif kind == "script":
            parts.append(f"<script defer src={url}></script>")
    parts.append("<h1>A synthetic page</h1>")
    drawn = (at for at, item in enumerate(shape.objects) if _is_drawn(shape, item))
    parts += [f"<i class=c{at}>x</i>" for at in drawn]
    for at in children:
        if shape.objects[at].kind == "image":
            parts.append(f"<img width=48 height=48 src={urls[at]}>")
        elif shape.objects[at].kind in ("font", "data"):
            parts.append(f"<link rel=preload as=fetch crossorigin href={urls[at]}>")
    return "".join(parts)


def _is_drawn(shape: SiteShape, item: ObjectShape) -> bool:
    """Whether a style sheet asks for it, which it does only for an element that is there."""
    return item.kind in ("image", "font") and shape.objects[item.parent].kind == "style"


def _script(children: list[int], urls: list[str]) -> str:
    return _LOADER % json.dumps([urls[at] for at in children]) if children else ""


def _style(shape: SiteShape, children: list[int], urls: list[str]) -> str:
    imports, rules = [], []
    for at in children:
        kind, url = shape.objects[at].kind, urls[at]
        if kind == "style":
            imports.append(f"@import url({url});")
        elif kind == "font":
            rules.append(
                f"@font-face{{font-family:f{at};src:url({url})}}.c{at}{{font-family:f{at}}}"
            )
        else:
            rules.append(f".c{at}{{background:url({url})}}")
    return "".join(imports + rules)
