"""Make the recordings of synthetic sites by name: the same name gives the same bytes."""

import hashlib
import inspect
import os
import sys
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.lab.binary import binary_digest
from eyelevel.plan import synthetic_site
from eyelevel.plan.synthetic_site import MARKUP_BYTES, LikeSite, LiveSite, SyntheticSite
from eyelevel.sites import pack
from eyelevel.sites.pack import SyntheticExchange, pack_site
from eyelevel.sites.synthetic import published, shapes, write
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import SiteShape, site_shapes
from eyelevel.sites.synthetic.write import write_site
from eyelevel.store.disk import folder_beside

_COLOURS = ("#264653", "#2a9d8f", "#e9c46a", "#f4a261", "#e76f51")


def make_synthetic(site: SyntheticSite | LikeSite | LiveSite) -> Path:
    """Return the recording of `site` from the user's cache, generating it if needed.

    It is written atomically, so that concurrent commands are safe. Raises `LabError` if it cannot
    be packed.
    """
    kept = _cache() / f"{site.name}.wacz"
    if kept.exists():
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(kept) as folder:
        out = folder / kept.name
        if isinstance(site, LikeSite):
            write_site(_shapes(site.like, site.count, site.seed)[site.site - 1], site.name, out)
        elif isinstance(site, LiveSite):
            page = SyntheticExchange(site.url, "text/html; charset=utf-8", b"<!doctype html>", ())
            host = urlsplit(site.url).hostname or ""
            pack_site(out, [page], title=site.name, addresses={host: "192.0.2.1"})
        else:
            _pack(site, out)
        out.rename(kept)
    return kept


@lru_cache(maxsize=4)
def _shapes(like: str, count: int, seed: int) -> tuple[SiteShape, ...]:
    """Return all sites of a draw: a site's place in it depends on the others."""
    return site_shapes(PUBLISHED[like], count, seed)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "eyelevel" / "synthetic" / _maker()


@cache
def _maker() -> str:
    """Return the digest of the code that generates and packs sites, which may affect the bytes."""
    makers = (synthetic_site, pack, published, shapes, write, sys.modules[__name__])
    code = "\0".join([binary_digest(), *map(inspect.getsource, makers)])
    return hashlib.sha256(code.encode()).hexdigest()[:16]


def _pack(site: SyntheticSite, out: Path) -> None:
    hosts = [f"origin{number}.example" for number in range(1, site.origins + 1)]
    pictures = [
        f"https://{hosts[number % site.origins]}/{number}.svg"
        for number in range(1, site.objects - site.late_style)
    ]
    style = f"https://{hosts[0]}/late.css" if site.late_style else ""
    files = [(f"https://{hosts[0]}/", "text/html; charset=utf-8", _page(site, pictures, style))]
    for number, url in enumerate(pictures):
        files.append((url, "image/svg+xml", _picture(site, number)))
    if style:
        files.append((style, "text/css", _pad_number("h1{color:#264653}", site, "/*", "*/")))
    exchanges = [
        SyntheticExchange(url, kind, body.encode("ascii"), ()) for url, kind, body in files
    ]
    addresses = {host: f"192.0.2.{number}" for number, host in enumerate(hosts, start=1)}
    pack_site(out, exchanges, title=site.name, addresses=addresses)


def _page(site: SyntheticSite, pictures: list[str], style: str) -> str:
    if site.object_bytes < MARKUP_BYTES:
        return "x" * site.object_bytes
    images = "".join(f"<img src={url} width=48 height=48>" for url in pictures)
    # Without an icon in the page the browser would request one that is not recorded.
    start = f"<!doctype html><title>{site.name}</title><link rel=icon href=data:,>"
    if style:
        # Preloads are requested in the order of the page, the style sheet last. Chromium holds
        # images of low priority back while a style sheet is on its way, which would hide the order.
        preload = "<link rel=preload as=image fetchpriority=high href={}>"
        preloads = "".join(preload.format(url) for url in pictures)
        start += f"{preloads}<link rel=stylesheet href={style}>"
    return _pad_number(
        f"{start}<h1>A page of {site.objects} objects</h1>{images}", site, "<!--", "-->"
    )


def _picture(site: SyntheticSite, number: int) -> str:
    colour = _COLOURS[number % len(_COLOURS)]
    start = "<svg xmlns='http://www.w3.org/2000/svg' width='48' height='48'>"
    drawn = f"{start}<rect width='48' height='48' fill='{colour}'/></svg>"
    return _pad_number(drawn, site, "<!--", "-->")


def _pad_number(text: str, site: SyntheticSite, before: str, after: str) -> str:
    """Return the text padded by a comment to `object_bytes`, unless it is longer."""
    room = site.object_bytes - len(text) - len(before) - len(after)
    return f"{text}{before}{'x' * room}{after}" if room > 0 else text
