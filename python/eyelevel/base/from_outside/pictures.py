"""Open untrusted images: of known formats, and with no more pixels than a screen could have."""

import io
from typing import TYPE_CHECKING

from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.limits import PICTURE
from eyelevel.base.from_outside.words import excerpt

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "WEBP", "JPEG")


class PictureError(OutsideError, ValueError):
    """Bytes are not a supported image; the caller adds the source's name."""


def open_picture(content: bytes) -> "Image":
    """Decode an image to RGB. Raises `PictureError`, to which the caller adds the source's name."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
            width, height = opened.size
            if width * height > PICTURE.values_max:
                raise PictureError(f"no picture: it says that it has {width}x{height} pixels")
            opened.load()
            return opened if opened.mode == "RGB" else opened.convert("RGB")
    except UnidentifiedImageError as error:  # its text names an object in memory
        known = ", ".join(FORMATS)
        raise PictureError(f"no picture that can be read: it is none of {known}") from error
    except (Image.DecompressionBombError, OSError, SyntaxError, EOFError) as error:
        raise PictureError(f"no picture that can be read: {_describe_error(error)}") from error
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        if isinstance(error, PictureError):
            raise
        raise PictureError(f"no picture that can be read: {_describe_error(error)}") from error


def _describe_error(error: BaseException) -> str:
    return excerpt(error) or "it ends early"
