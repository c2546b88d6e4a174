"""A frame over a line of text that says what it shows and when."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont

from eyelevel.store.frames import Frame

LINE_PX = 28
TEXT_PX = 16
BACKGROUND, FOREGROUND = (24, 28, 36), (240, 242, 246)


def captioned(frame: Frame, width_px: int, left: str, right: str) -> Image.Image:
    """The frame scaled to a width, its caption below; both sides of it are even (codecs ask)."""
    picture = Image.fromarray(frame.picture)
    width_px -= width_px % 2
    height_px = round(picture.height * width_px / picture.width)
    height_px += height_px % 2
    sheet = Image.new("RGB", (width_px, height_px + LINE_PX), BACKGROUND)
    sheet.paste(picture.resize((width_px, height_px), Image.Resampling.LANCZOS))
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(TEXT_PX)
    middle = height_px + LINE_PX // 2
    draw.text((8, middle), left, FOREGROUND, font, anchor="lm")
    draw.text((width_px - 8, middle), right, FOREGROUND, font, anchor="rm")
    return sheet


def seconds(at_ms: float) -> str:
    """`1.52 s`."""
    return f"{at_ms / 1e3:.2f} s"
