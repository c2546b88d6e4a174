"""The level's made page as a recording."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from eyelevel.level.made_page import ADDRESSES, HOST, URL, Item, items
from eyelevel.sites.pack import MadeExchange, pack_site

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
    exchanges = [MadeExchange(item.url, item.content_type, item.body) for item in entries]
    names = [HOST, IMAGES_HOST]
    pack_site(
        out,
        exchanges,
        title="made for the level",
        description="Made: 60 images, 4 style sheets, 6 fonts, a late script",
        addresses=addresses,
        **({"certificate_names": dict.fromkeys(names, names)} if coalesced else {}),
    )
    return out


def _with_images_elsewhere(item: Item) -> Item:
    if item.url == URL:
        page = item.body.decode()
        page = page.replace("src=/image-", f"src=https://{IMAGES_HOST}/image-")
        return replace(item, body=page.encode())
    return replace(item, url=item.url.replace(f"{URL}image-", f"https://{IMAGES_HOST}/image-"))
