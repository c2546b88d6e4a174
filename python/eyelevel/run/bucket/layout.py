"""The layout of a bucket: object names, and the blocks of a plan by number."""

import re
from collections.abc import Iterable
from itertools import groupby

from eyelevel.store.pictures import PICTURES

BLOCKS = "blocks"
_BLOCK = re.compile(r"(\d{7})\.zip")
_MACHINE = re.compile(r"[0-9a-z-]{1,64}\.json")
_PICTURE = re.compile(r"([0-9a-f]{20})\.webp")


def block_object(number: int) -> str:
    """Return the object name of a block, given its index in the plan."""
    return f"{BLOCKS}/{number:07}.zip"


def block_number(file: str) -> int | None:
    """Return a block's index from its file name; None for other files."""
    found = _BLOCK.fullmatch(file)
    return int(found[1]) if found else None


def is_machine_file(file: str) -> bool:
    """Return whether a file name in `MACHINES` belongs to a machine."""
    return _MACHINE.fullmatch(file) is not None


def picture_object(name: str) -> str:
    """Return the object name of an image."""
    return f"{PICTURES}/{name}.webp"


def picture_of(file: str) -> str | None:
    """Return an image's name from its file name in `PICTURES`; None for other files."""
    found = _PICTURE.fullmatch(file)
    return found[1] if found else None


def blocks_of(trials: Iterable[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Group (block, hash) pairs in the plan's order to one tuple of hashes per block."""
    return [
        tuple(name for _, name in group) for _, group in groupby(trials, key=lambda each: each[0])
    ]
