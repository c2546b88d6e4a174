"""Read edits of recordings: tables of a plan, and their short forms on a command line.

An edit is one change to recorded bytes (docs/reference/edits.md, which `EDITS` writes). Whether it
fits a recording is up to the data plane (`crates/edit`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from eyelevel.base.errors import unknown
from eyelevel.base.json_types import JsonObject

Within = Literal["page", "all", "named", "none"]
"""The default scope of an edit, without `in`: the page, all objects that it fits, no object, or the
edit takes no `in`."""


@dataclass(frozen=True)
class EditKind:
    """One kind of edit."""

    name: str
    value: str
    """The kind of value, as the reference writes it."""
    does: str
    limit: str
    example: str
    within: Within = "page"
    second: str = ""
    """The key of a second value in a plan's table."""
    separator: str = ""
    """The text between both values in the short form."""
    second_default: str = ""


EDITS = (
    EditKind(
        "replace", "a text", "replaces it by `with`, wherever it stands",
        "exact letters; in a charset other than UTF-8 the whole text must be readable",
        "replace:200 OK => 404 in /app.js", second="with", separator=" => ",
    ),
    EditKind(
        "insert_head", "markup", "inserts it at the beginning of the head, behind the charset",
        "what it loads must be recorded", 'insert_head:<meta name="x" content="y">',
    ),
    EditKind(
        "remove", "a target", "removes elements and their content",
        "a recorded object that nothing else names is then not asked for", "remove:script.ads",
    ),
    EditKind(
        "defer", "a target", "defers classic scripts that have a URL",
        "`async` is taken off; modules are deferred by themselves", "defer:/app.js",
    ),
    EditKind(
        "async", "a target", "makes scripts that have a URL asynchronous", "`defer` is taken off",
        "async:/app.js",
    ),
    EditKind(
        "preload", "an object", "preloads it in the mode in which the page asks for it",
        "20 objects; `imagesrcset` is not written", "preload:/hero.jpg",
    ),
    EditKind(
        "modulepreload", "an object", "preloads a module", "20 objects",
        "modulepreload:/app.mjs",
    ),
    EditKind(
        "preconnect", "an origin or a host",
        "connects early, with and without credentials as the page needs it",
        "another origin of the recording", "preconnect:https://cdn.example",
    ),
    EditKind(
        "fetchpriority", "a target", "sets the priority of images, scripts, links and frames",
        "`high` unless `priority` says `low` or `auto`", "fetchpriority:/hero.jpg=low",
        second="priority", separator="=", second_default="high",
    ),
    EditKind(
        "lazy", "a target", "loads images and frames when they come near the viewport",
        "not those that scripts make", "lazy:img.below",
    ),
    EditKind(
        "inline", "an object", "puts a style sheet or classic script into the page",
        "no script with `defer` or `async`, no module; URLs in style sheets are moved",
        "inline:/critical.css",
    ),
    EditKind(
        "font_display", "`swap`, `optional`, `fallback`, `block` or `auto`",
        "sets it in every font face", "style sheets and styles of documents, not of scripts",
        "font_display:swap", within="all",
    ),
    EditKind(
        "block", "an object, a host or `third-parties`",
        "takes it out of the recording; the browser's requests for it fail at once",
        "not the page; a third party is told by the last labels of its host",
        "block:third-parties", within="none",
    ),
    EditKind(
        "header", "`NAME: VALUE`", "sets a response field in place of all of its name",
        "without a value it removes the field; not those that follow from the body",
        "header:cache-control: no-store in /app.js",
    ),
    EditKind(
        "encode", "`br:0` to `br:11`, `zstd:1` to `zstd:19`, `gzip:1` to `gzip:9`, `identity`",
        "sets the content coding", "all that servers compress, unless `in` names objects",
        "encode:br:11", within="all",
    ),
    EditKind(
        "body", "a file", "replaces the body of what `in` names",
        "the content type stays", "body:hero.avif in /hero.jpg", within="named",
    ),
)  # fmt: skip
"""All kinds of edits."""

_BY_NAME = {kind.name: kind for kind in EDITS}
_PRIORITIES = ("high", "low", "auto")


@dataclass(frozen=True)
class Edit:
    """One edit of a recording."""

    kind: str
    value: str
    within: str = ""
    """The pattern of the objects that it applies to; empty for the default of its kind."""
    second: str = ""

    @property
    def name(self) -> str:
        """Return the edit in its short form, by which reports call it."""
        kind = _BY_NAME[self.kind]
        has_second = self.second and self.second != kind.second_default
        second = f"{kind.separator}{self.second}" if has_second or self.kind == "replace" else ""
        within = f" in {self.within}" if self.within else ""
        return f"{self.kind}:{self.value}{second}{within}"

    def table(self) -> dict[str, str]:
        """Return the edit as a table of a plan."""
        second = _BY_NAME[self.kind].second
        table = {self.kind: self.value} | ({second: self.second} if second else {})
        return table | ({"in": self.within} if self.within else {})

    def message(self) -> JsonObject:
        """Return the edit as the data plane reads it."""
        action: object = self.value
        if self.kind == "replace":
            action = {"text": self.value, "with": self.second}
        elif self.kind == "fetchpriority":
            action = {"target": self.value, "value": self.second}
        elif self.kind == "body":
            action = str(Path(self.value).absolute())
        message: JsonObject = {"name": self.name, "action": {self.kind: action}}
        return message | ({"in": self.within} if self.within else {})


def parse_change(text: str) -> Edit | None:
    """Return the edit of a short form, or None where its first word names no kind of edit.

    Raises ValueError, one line with the way out, where the rest does not fit the kind.
    """
    name, _, rest = text.partition(":")
    kind = _BY_NAME.get(name.strip())
    if kind is None:
        return None
    value, within = rest.strip(), ""
    before, separator, after = value.rpartition(" in ")
    if separator and after.strip() and " " not in after.strip() and kind.within != "none":
        value, within = before.strip(), after.strip()
    second = kind.second_default
    if kind.separator:
        before, separator, after = f"{value} ".rpartition(kind.separator)
        if separator and (kind.name != "fetchpriority" or after.strip() in _PRIORITIES):
            value, second = before.strip(), after.strip()
        elif kind.name == "replace":
            raise ValueError(f"`{text}` lacks the text in its place; write `{kind.example}`")
    return _check_edit(Edit(kind.name, value, within, second), text)


def parse_edit(table: Mapping[str, object]) -> Edit:
    """Return the edit of a plan's table, such as `{ preload = "/hero.jpg" }`.

    Raises ValueError, one line with the way out.
    """
    keys = ", ".join(map(str, table)) or "nothing"
    names = [key for key in table if key in _BY_NAME]
    if len(names) != 1:
        others = [key for key in table if key not in ("in", "with", "priority")]
        if not names and others:
            raise ValueError(unknown("edit", str(others[0]), _BY_NAME))
        raise ValueError(f"an edit has one of {', '.join(_BY_NAME)}, and this has {keys}")
    kind = _BY_NAME[names[0]]
    allowed = {kind.name, *([kind.second] if kind.second else [])}
    allowed |= {"in"} if kind.within != "none" else set()
    for key, value in table.items():
        if key not in allowed:
            raise ValueError(f"edit `{kind.name}`: " + unknown("key", key, sorted(allowed)))
        if not isinstance(value, str):
            raise ValueError(f"edit `{kind.name}`: `{key}` is {value!r}; write a text")
    if kind.second and not kind.second_default and kind.second not in table:
        raise ValueError(f"edit `{kind.name}` lacks `{kind.second}`; write it")
    second = str(table.get(kind.second, kind.second_default)) if kind.second else ""
    edit = Edit(kind.name, str(table[kind.name]), str(table.get("in", "")), second)
    return _check_edit(edit, edit.name)


def _check_edit(edit: Edit, text: str) -> Edit:
    kind = _BY_NAME[edit.kind]
    if not edit.value:
        raise ValueError(f"`{text}` lacks {kind.value}; write `{kind.example}`")
    if kind.within == "named" and not edit.within:
        raise ValueError(f"`{text}` names no object; write `{kind.example}`")
    return edit
