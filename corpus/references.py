"""The resources that HTML and CSS files ask a browser to fetch, found without a browser."""

import re
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

FETCHING_RELS = {"stylesheet", "icon", "apple-touch-icon", "preload", "modulepreload", "manifest"}
CSS_URL = re.compile(r"""url\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*\)""")
CSS_IMPORT = re.compile(r"""@import\s+("[^"]*"|'[^']*')""")


def in_html(url: str, text: str) -> set[str]:
    """Absolute URLs of what the page at `url` fetches by markup and inline styles."""
    parser = _ReferenceParser()
    parser.feed(text)
    found = {urljoin(url, reference.strip()) for reference in parser.references}
    for style in parser.styles:
        found |= in_css(url, style)
    return {urldefrag(each).url for each in found if _is_fetched(each)}


def in_css(url: str, text: str) -> set[str]:
    """Absolute URLs of what the style sheet at `url` may fetch."""
    matches = CSS_URL.findall(text) + CSS_IMPORT.findall(text)
    references = {match.strip().strip("\"'") for match in matches}
    found = {urljoin(url, reference) for reference in references if _is_fetched(reference)}
    return {urldefrag(each).url for each in found}


def _is_fetched(reference: str) -> bool:
    return bool(reference) and not reference.startswith(("data:", "#", "javascript:", "blob:"))


class _ReferenceParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.styles: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        rels = set(values.get("rel", "").lower().split())
        if tag == "link" and rels & FETCHING_RELS:
            self.references.append(values.get("href", ""))
        if tag in {"script", "img", "source", "iframe", "video", "audio", "embed", "input"}:
            self.references.append(values.get("src", ""))
        candidates = values.get("srcset", "").split(",") if "srcset" in values else []
        self.references += [each.split()[0] for each in candidates if each.split()]
        self.references += [values.get("poster", ""), values.get("background", "")]
        if tag == "object":
            self.references.append(values.get("data", ""))
        self.references = [each for each in self.references if _is_fetched(each)]
        self.styles.append(values.get("style", ""))
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_style = self._in_style and tag != "style"

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.styles.append(data)
