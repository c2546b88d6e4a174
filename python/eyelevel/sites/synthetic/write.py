"""Write synthetic sites as recordings: shapes become bodies that make a browser request them."""

import json
from collections.abc import Callable
from pathlib import Path

from eyelevel.base.json_types import JsonObject
from eyelevel.sites.pack import SyntheticExchange, pack_site
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


def write_site(shape: SiteShape, name: str, out: Path) -> JsonObject:
    """Write one site and return its `archive info`; raises `LabError`."""
    urls = urls_of(shape)
    exchanges = [
        SyntheticExchange(
            url=urls[place],
            content_type=_TYPES[item.kind],
            body=body(shape, place, urls).encode("ascii"),
            initiator=None if place == PAGE else urls[item.parent],
        )
        for place, item in enumerate(shape.objects)
    ]
    return pack_site(
        out,
        exchanges,
        title=name,
        description="Synthetic: shaped like published distributions, of filler",
        # The benchmark block (RFC 2544); a site has far fewer than 250 origins.
        addresses={f"o{n}.example": f"198.18.1.{n + 1}" for n in range(shape.origins)},
        source="synth",
    )


def urls_of(shape: SiteShape) -> list[str]:
    """Return every object's URL."""
    return [
        f"https://o{item.origin}.example/"
        + ("" if place == PAGE else f"{place}.{EXTENSIONS[item.kind]}")
        for place, item in enumerate(shape.objects)
    ]


def body(shape: SiteShape, place: int, urls: list[str]) -> str:
    """Return text that makes a browser request the object's children, padded to its bytes."""
    item = shape.objects[place]
    children = [
        number
        for number, child in enumerate(shape.objects)
        if number != PAGE and child.parent == place
    ]
    texts: dict[str, Callable[[], tuple[str, str, str]]] = {
        "document": lambda: (_document(shape, children, urls), "<!--", "-->"),
        "image": lambda: (_SVG, "<!--", "-->"),
        "script": lambda: (_script(children, urls), "/*", "*/"),
        "style": lambda: (_style(shape, children, urls), "/*", "*/"),
        "font": lambda: ("", "", ""),
        "data": lambda: ("1", "", ""),
    }
    text, before, after = texts[item.kind]()
    room = item.bytes - len(text) - len(before) - len(after)
    if item.kind in ("font", "data"):
        return text + " " * (item.bytes - len(text))
    return text + (before + "x" * room + after if room >= 0 else " " * (item.bytes - len(text)))


def _document(shape: SiteShape, children: list[int], urls: list[str]) -> str:
    parts = ["<!doctype html><title>synthetic</title><link rel=icon href=data:,>"]
    for number in children:
        kind, url = shape.objects[number].kind, urls[number]
        if kind == "style":
            parts.append(f"<link rel=stylesheet href={url}>")
        elif kind == "script":
            parts.append(f"<script defer src={url}></script>")
    parts.append("<h1>A synthetic page</h1>")
    drawn = (number for number, item in enumerate(shape.objects) if _is_drawn(shape, item))
    parts += [f"<i class=c{number}>x</i>" for number in drawn]
    for number in children:
        if shape.objects[number].kind == "image":
            parts.append(f"<img width=48 height=48 src={urls[number]}>")
        elif shape.objects[number].kind in ("font", "data"):
            parts.append(f"<link rel=preload as=fetch crossorigin href={urls[number]}>")
    return "".join(parts)


def _is_drawn(shape: SiteShape, item: ObjectShape) -> bool:
    """Return whether a style sheet requests it, which it does only for an existing element."""
    return item.kind in ("image", "font") and shape.objects[item.parent].kind == "style"


def _script(children: list[int], urls: list[str]) -> str:
    return _LOADER % json.dumps([urls[number] for number in children]) if children else ""


def _style(shape: SiteShape, children: list[int], urls: list[str]) -> str:
    imports, rules = [], []
    for number in children:
        kind, url = shape.objects[number].kind, urls[number]
        if kind == "style":
            imports.append(f"@import url({url});")
        elif kind == "font":
            rules.append(
                f"@font-face{{font-family:f{number};src:url({url})}}.c{number}{{font-family:f{number}}}"
            )
        else:
            rules.append(f".c{number}{{background:url({url})}}")
    return "".join(imports + rules)
