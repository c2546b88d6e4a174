"""Define the page over which two stacks are compared: its content, without any browser.

The page has one host for everything except the fonts, which are on another, as on many pages: 4
style sheets, 6 fonts that they name, 60 images, a script, and a late one that the tenth image
requests. It has few enough bytes for the slowest network, and many more images than a browser that
delays requests sends at once. The images are below the fold, where their priority stays low: those
in view are requested as soon as the page is laid out.
"""

from dataclasses import dataclass
from random import Random

HOST, FONT_HOST = "level.example", "fonts.level.example"
ADDRESSES = {HOST: "192.0.2.20", FONT_HOST: "192.0.2.21"}
URL = f"https://{HOST}/"
LATE_SCRIPT = "/late.js"

STYLES, FONTS, IMAGES = 4, 6, 60
STYLE_BYTES, FONT_BYTES, IMAGE_BYTES, SCRIPT_BYTES = 2500, 3000, 1800, 2000
FOLD_PX = 3000
"""The vertical offset of the images."""
LATE_AFTER_IMAGES = 10
"""The number of images before the late script; by then the page's own requests have been sent,
unless the browser delays them."""


@dataclass(frozen=True)
class Item:
    """One object of the page."""

    url: str
    content_type: str
    body: bytes


def items() -> tuple[Item, ...]:
    """Return all objects, in the order in which the page has them: the same bytes every time."""
    draw = Random(1)
    page = Item(URL, "text/html; charset=utf-8", _page().encode())
    styles = [
        Item(
            f"{URL}style-{number}.css",
            "text/css",
            _fill(_style(number), STYLE_BYTES, "/*", "*/", draw),
        )
        for number in range(STYLES)
    ]
    fonts = [
        Item(f"https://{FONT_HOST}/font-{number}.woff2", "font/woff2", draw.randbytes(FONT_BYTES))
        for number in range(FONTS)
    ]
    images = [
        Item(
            f"{URL}image-{number}.svg",
            "image/svg+xml",
            _fill(_image(number), IMAGE_BYTES, "<!--", "-->", draw),
        )
        for number in range(IMAGES)
    ]
    scripts = [
        Item(
            f"https://{HOST}{path}",
            "text/javascript",
            _fill(text, SCRIPT_BYTES, "/*", "*/", draw),
        )
        for path, text in (("/page.js", _SCRIPT), (LATE_SCRIPT, "document.title = 'level';"))
    ]
    return (page, *styles, scripts[0], *images, *fonts, scripts[1])


def kind_of(path: str) -> str:
    """Return the kind of a path's object: style, font, image, script or page."""
    kinds = {".css": "style", ".woff2": "font", ".svg": "image", ".js": "script"}
    return next((kind for end, kind in kinds.items() if path.endswith(end)), "page")


def _page() -> str:
    links = "".join(f"<link rel=stylesheet href=/style-{number}.css>" for number in range(STYLES))
    texts = "".join(f"<p class=f{number}>A line in font {number}</p>" for number in range(FONTS))
    images = "".join(
        f"<img width=60 height=40 src=/image-{number}.svg>" for number in range(IMAGES)
    )
    return (
        "<!doctype html><title>made for the level</title><link rel=icon href=data:,>"
        f"{links}<script src=/page.js></script>{texts}"
        f"<div style=margin-top:{FOLD_PX}px>{images}</div>"
    )


_SCRIPT = f"""let seen = 0;
document.addEventListener('load', (event) => {{
  if (event.target.tagName !== 'IMG') return;
  seen += 1;
  if (seen !== {LATE_AFTER_IMAGES}) return;
  const late = document.createElement('script');
  late.fetchPriority = 'high';
  late.src = '{LATE_SCRIPT}';
  document.body.append(late);
}}, true);"""


def _style(at: int) -> str:
    fonts = [number for number in range(FONTS) if number % STYLES == at]
    return "".join(
        f"@font-face{{font-family:f{number};src:url(https://{FONT_HOST}/font-{number}.woff2)}}"
        f".f{number}{{font-family:f{number},serif;color:rgb({40 * number},0,90)}}"
        for number in fonts
    )


def _image(at: int) -> str:
    return (
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 60 40'>"
        f"<rect width='60' height='40' fill='hsl({at * 6},60%,50%)'/></svg>"
    )


def _fill(text: str, size: int, before: str, after: str, draw: Random) -> bytes:
    """Return the text with a comment that does not compress, `size` bytes in all."""
    room = size - len(text) - len(before) - len(after)
    filler = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=room))
    return (text + before + filler + after).encode()


ORDER = {
    (item.url.removeprefix(f"https://{HOST}").removeprefix(f"https://{FONT_HOST}")): place
    for place, item in enumerate(items())
}
"""The positions of the objects in the page, by path."""
