"""Pieces of HTML, escaped where text enters.

Templates of the page's sections (Jinja2), one per section, in the folder `templates`.

A section is a frozen dataclass: its template reads its fields, and `as_json` returns them as JSON.
Text is escaped where it enters, as everywhere on the page.
"""

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from eyelevel.base.from_outside.words import (
    escape_control_characters,
    escape_control_characters_in_json,
)


class Markup(str):
    """A string that is HTML already and is not escaped again."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return itself, so that templates do not escape it either."""
        return str(self)


def escape(value: object) -> Markup:
    """Escape text as HTML, and remove control and bidirectional characters; markup stays."""
    if isinstance(value, Markup):
        return value
    if hasattr(value, "__html__"):  # the result of a template's macro
        return Markup(value.__html__())
    return Markup(html.escape(escape_control_characters(str(value))))


def join(parts: Iterable[object]) -> Markup:
    """Join pieces of text and HTML."""
    return Markup("".join(escape(part) for part in parts))


def element(name: str, *content: object, **attributes: str) -> Markup:
    """Return one element; `class_` and `for_` stand for Python's keywords, `_` for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def with_code(text: str) -> Markup:
    """Return text as HTML with code elements for words between backticks."""
    parts = text.split("`")
    return join(element("code", part) if index % 2 else part for index, part in enumerate(parts))


def table(
    caption: object, columns: Sequence[object], rows: Iterable[Sequence[object]], class_: str = ""
) -> Markup:
    """Return a table whose first column has row headings; on narrow pages it scrolls sideways."""
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


def make_titled_section(identity: str, title: str, *content: object) -> Markup:
    """Return a section with a heading and an anchor for links."""
    heading = element("h2", title, id=identity)
    return element("section", heading, *content, aria_labelledby=identity)


def data_block(identity: str, value: object) -> Markup:
    """Return JSON for the page's script, safe inside a script element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    safe = escape_control_characters_in_json(text).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{identity}">{safe}</script>')


def _source(name: str) -> str:
    return files("eyelevel.report").joinpath("templates", name).read_text(encoding="utf-8")


_ENVIRONMENT = Environment(
    loader=FunctionLoader(_source),
    autoescape=True,
    finalize=escape,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["code"] = with_code


def render(name: str, section: object) -> Markup:
    """Return the HTML of a section: its template `NAME.html` reads it as `section`."""
    return Markup(_ENVIRONMENT.get_template(f"{name}.html").render(section=section).strip())
