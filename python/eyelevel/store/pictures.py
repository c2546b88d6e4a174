"""Images of last frames, one file each, in a folder that all loads of a run share.

Most loads of a site end with the same image, to the pixel, whatever the network and stack. It is
most of the size of a load's frames, and of the time to encode them. So it is stored once per run,
under a name derived from its pixels, however many loads refer to it.
"""

import hashlib
from pathlib import Path

from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.limits import PICTURE
from eyelevel.base.from_outside.source import Source
from eyelevel.store.disk.whole import write_whole
from eyelevel.store.pixels import EFFORT, Picture, decode_webp, encode_webp

PICTURES = "pictures"

_NAME_DIGITS = 20


def picture_name(picture: Picture) -> str:
    """Return an image's name: a digest of its size and pixels."""
    size = "x".join(map(str, picture.shape)).encode()
    return hashlib.sha256(size + b":" + picture.tobytes()).hexdigest()[:_NAME_DIGITS]


def pack_picture(picture: Picture) -> bytes:
    """Return the content of an image's file."""
    return encode_webp(picture, EFFORT)


def has_picture(folder: Path, name: str) -> bool:
    """Return whether `folder` has the image, undamaged."""
    try:
        _read(folder, name)
    except (OSError, ValueError):
        return False
    return True


def keep_picture(folder: Path, name: str, content: bytes) -> None:
    """Store an image in `folder` atomically. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(picture_file(folder, name), content)


def is_picture(content: bytes, name: str) -> bool:
    """Return whether `content` is the file of the image of this name."""
    try:
        return picture_name(decode_webp(content)) == name
    except ValueError:
        return False


def read_picture(folder: Path, name: str) -> Picture:
    """Read an image. Raises `StoreError` if it is absent or does not match its name."""
    try:
        return _read(folder, name)
    except (OSError, ValueError) as error:
        file = picture_file(folder, name)
        raise StoreError(
            f"reading {file}, the last picture of loads of this run: {error}; "
            "copy it from where the run was copied from, or run the plan again elsewhere (a load "
            "that ends with this picture writes it)"
        ) from error


def _read(folder: Path, name: str) -> Picture:
    file = picture_file(folder, name)
    picture = decode_webp(read_bytes(file, Source(str(file), PICTURE, ValueError)))
    if picture_name(picture) != name:
        raise ValueError("its pixels are not those that it is named after")
    return picture


def picture_file(folder: Path, name: str) -> Path:
    """Return the path of an image's file."""
    return folder / f"{name}.webp"
