"""Pictures: of known formats, and no more pixels than a screen could have."""

import io
from typing import TYPE_CHECKING

from eyelevel.from_outside.limits import PICTURE

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "WEBP", "JPEG")


class PictureError(ValueError):
    """Bytes that are no picture that is read here."""


def open_picture(content: bytes) -> "Image":
    """The picture in red, green and blue, decoded. Raises PictureError, which its caller names."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
            width, height = opened.size
            if width * height > PICTURE.values_max:
                raise PictureError(f"it says that it has {width}x{height} pixels")
            opened.load()
            return opened if opened.mode == "RGB" else opened.convert("RGB")
    except (Image.DecompressionBombError, OSError, SyntaxError, EOFError) as error:
        raise PictureError(str(error) or "it ends early") from error
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError) as error:
        raise error if isinstance(error, PictureError) else PictureError(str(error)) from error
