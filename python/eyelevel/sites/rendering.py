"""Find what blocks a page's rendering, and what follows a script in its markup."""

from html.parser import HTMLParser
from urllib.parse import urljoin

from eyelevel.base.json_types import JsonMapping

# Values of Chromium's network log.
IN_BODY = "InBodyParserBlocking"
"""Chromium's value for synchronous scripts in the body."""
_BLOCKING = ("Blocking", IN_BODY)


def blocks_rendering(item: JsonMapping) -> bool:
    """Return whether the object blocks the painting of the page, or of the markup below it.

    These are the document, and the style sheets and synchronous scripts of its head and body. Those
    of a frame do not block the page around it.
    """
    if item["in_main_frame"] is False:
        return False
    return item["render_blocking"] in _BLOCKING or item["resource_type"] == "Document"


_UNSEEN = frozenset(
    ("script", "style", "template", "link", "meta", "base", "title", "noscript", "body", "html")
)
"""Elements that paint nothing themselves; `noscript` does not if scripts run."""


def only_scripts_below(markup: str, page_url: str, script_url: str) -> bool:
    """Return whether nothing painted follows the script: no text, no element with a box.

    Pure. Also False if the markup does not contain the script. What other scripts below it would
    paint is unknown.
    """
    reader = _Reader(page_url, script_url)
    reader.feed(markup)
    reader.close()
    return reader.has_script and not reader.painted


class _Reader(HTMLParser):
    def __init__(self, page_url: str, script_url: str) -> None:
        super().__init__()
        self.has_script = self.painted = False
        self._page_url, self._script_url = page_url, script_url
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and not self.has_script:
            source = dict(attrs).get("src")
            self.has_script = source is not None and (
                urljoin(self._page_url, source.strip()) == self._script_url
            )
        if self._inside:
            return
        if tag in ("script", "style", "template", "title", "noscript"):
            self._inside = tag
        elif self.has_script and tag not in _UNSEEN:
            self.painted = True

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if self.has_script and not self._inside and data.strip():
            self.painted = True
