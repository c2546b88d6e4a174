"""The level's made page as a recording."""

import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from eyelevel.lab.binary import run_tool
from eyelevel.level.made_page import ADDRESSES, HOST, URL, Item, items

ImagesHost = Literal["page", "own", "coalesced"]

IMAGES_HOST, IMAGES_ADDRESS = "images.level.example", "192.0.2.22"


def write_made_page(out: Path, images_host: ImagesHost = "page") -> Path:
    """Pack it; raises LabError.

    `images_host`: the page's own; `own`, another with a connection of its own; `coalesced`, another
    with the page's address and certificate, so that its images come over the page's connection.
    """
    coalesced = images_host == "coalesced"
    entries = items() if images_host == "page" else tuple(map(_with_images_elsewhere, items()))
    addresses = {**ADDRESSES, IMAGES_HOST: ADDRESSES[HOST] if coalesced else IMAGES_ADDRESS}
    with TemporaryDirectory(prefix="eyelevel-level-") as folder:
        exchanges = []
        for place, item in enumerate(entries):
            (Path(folder) / str(place)).write_bytes(item.body)
            headers = [["content-type", item.content_type], ["access-control-allow-origin", "*"]]
            exchanges.append({"url": item.url, "file": str(place), "headers": headers})
        about = {
            "title": "made for the level",
            "description": "Made: 60 images, 4 style sheets, 6 fonts, a late script",
            "main_url": URL,
            "created_at": "2026-01-01T00:00:00Z",
            "addresses": addresses,
            "exchanges": exchanges,
        }
        if coalesced:
            names = [HOST, IMAGES_HOST]
            about["certificate_names"] = dict.fromkeys(names, names)
        manifest = Path(folder) / "manifest.json"
        manifest.write_text(json.dumps(about), encoding="utf-8")
        run_tool(["archive", "pack", str(manifest), "--out", str(out)])
    return out


def _with_images_elsewhere(item: Item) -> Item:
    if item.url == URL:
        page = item.body.decode()
        page = page.replace("src=/image-", f"src=https://{IMAGES_HOST}/image-")
        return replace(item, body=page.encode())
    return replace(item, url=item.url.replace(f"{URL}image-", f"https://{IMAGES_HOST}/image-"))
