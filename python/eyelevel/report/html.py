"""Small pieces of HTML, escaped where text enters."""

import html
import json
import re
from collections.abc import Iterable, Sequence

from eyelevel.from_outside.words import escape_control_characters, escape_control_characters_in_json


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return itself: templates, too, take it as it is."""
        return str(self)


def escape(value: object) -> Markup:
    """Text as HTML, nothing of which steers a terminal or turns the writing; markup stays."""
    if isinstance(value, Markup):
        return value
    if hasattr(value, "__html__"):  # what a macro of a template gives
        return Markup(value.__html__())
    return Markup(html.escape(escape_control_characters(str(value))))


def join(parts: Iterable[object]) -> Markup:
    """Pieces one after the other."""
    return Markup("".join(escape(part) for part in parts))


def element(name: str, *content: object, **attributes: str) -> Markup:
    """One element; `class_` and `for_` stand for the words that Python keeps, `_` for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def with_code(text: str) -> Markup:
    """Text whose words between backticks are code, as reference pages have it."""
    parts = text.split("`")
    return join(element("code", part) if index % 2 else part for index, part in enumerate(parts))


def table(
    caption: object, columns: Sequence[object], rows: Iterable[Sequence[object]], class_: str = ""
) -> Markup:
    """Return a table whose first column heads its rows; it scrolls sideways where the page is
    narrow."""
    head = element("tr", *(element("th", column, scope="col") for column in columns))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:]))
        for row in rows
    ]
    content = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        class_=class_,
    )
    label = re.sub(r"<[^>]*>", "", escape(caption))
    return Markup(
        f'<div class="table"><div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"{content}</div></div>"
    )


def titled_section(identity: str, title: str, *content: object) -> Markup:
    """Return a section of a page under its heading, which links lead to."""
    heading = element("h2", title, id=identity)
    return element("section", heading, *content, aria_labelledby=identity)


def data_block(identity: str, value: object) -> Markup:
    """JSON for the page's script, safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = escape_control_characters_in_json(text).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{identity}">{safe}</script>')
