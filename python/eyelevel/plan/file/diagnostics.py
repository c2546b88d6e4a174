"""Collect the mistakes in a plan's text with file and line; pydantic's errors in plain words.

Find the lines of keys and array elements in a TOML text, for messages.

The text has been parsed before, so it is known to be well formed: this parser only follows strings,
comments, brackets and keys, and counts lines.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from pydantic_core import ErrorDetails

from eyelevel.base.errors import PlanError, nearest, reason_of, unknown
from eyelevel.base.settings import annotations_of, names_tried
from eyelevel.plan.browser import Browser, BrowserChange
from eyelevel.plan.file.model import NetworkTable, PlanFile, StackTable, VariantTable
from eyelevel.plan.networks.cross_traffic import CrossTraffic
from eyelevel.plan.plan import StopRule
from eyelevel.plan.stack_presets import TCP_FAST_OPEN
from eyelevel.plan.stacks import Stack
from eyelevel.plan.variants import LiveServer

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)
_SCALAR = re.compile(r"[^,\]}#\n]*")


def line_numbers(text: str) -> dict[Path, int]:
    """Return the line (from 1) where each key and array element of `text` starts, by its path."""
    return dict(_Walk(text).document())


def line_of(lines: dict[Path, int], path: Path) -> int:
    """Return the line of `path`, or of its nearest parent in the text; 1 for the whole text."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return 1


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def document(self) -> Iterator[tuple[Path, int]]:
        prefix: Path = ()
        tables: dict[Path, int] = {}
        while self._blank() < len(self.text):
            if self.text[self.at] != "[":
                yield from self._assignment(prefix)
                continue
            line, double = self._line(), self.text.startswith("[[", self.at)
            self.at += 2 if double else 1
            prefix = self._resolve(self._key(), tables)
            self.at += 2 if double else 1
            if double:
                tables[prefix] = tables.get(prefix, -1) + 1
                yield prefix, line
                prefix = (*prefix, tables[prefix])
            yield prefix, line

    def _resolve(self, keys: Path, tables: dict[Path, int]) -> Path:
        """Return a header's keys as a path: an array of tables means its last element."""
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            if path in tables:
                path = (*path, tables[path])
        return (*path, keys[-1])

    def _assignment(self, prefix: Path) -> Iterator[tuple[Path, int]]:
        line = self._line()
        path = prefix
        for key in self._key():
            path = (*path, key)
            yield path, line
        self.at += 1  # the equals sign
        yield from self._value(path)

    def _value(self, path: Path) -> Iterator[tuple[Path, int]]:
        self._blank()
        opening = self.text[self.at]
        if opening == "[":
            yield from self._list(path, "]")
        elif opening == "{":
            yield from self._list(path, "}")
        else:
            pattern = _STRING if opening in "\"'" else _SCALAR
            match = pattern.match(self.text, self.at)
            self.at = max(match.end() if match else 0, self.at + 1)

    def _list(self, path: Path, closing: str) -> Iterator[tuple[Path, int]]:
        self.at += 1
        index = 0
        while self._blank() < len(self.text) and self.text[self.at] != closing:
            if self.text[self.at] == ",":
                self.at += 1
            elif closing == "}":
                yield from self._assignment(path)
            else:
                yield (*path, index), self._line()
                yield from self._value((*path, index))
                index += 1
        self.at += 1

    def _key(self) -> Path:
        keys: list[str | int] = []
        while match := _KEY.match(self.text, self.at):
            keys.append(next(part for part in match.groups() if part is not None))
            self.at = match.end()
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return tuple(keys)

    def _blank(self) -> int:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1


# Keys that users write instead of another key whose spelling is not similar.
_OTHER_WORDS = {
    "runs": "blocks",
    "repetitions": "blocks",
    "protocols": "stacks",
    "base_stack": "base",
    **names_tried(Stack),
    **names_tried(Browser),
}
_KEYS: Mapping[str, Collection[str]] = {
    "networks": NetworkTable.model_fields,
    "stacks": StackTable.model_fields,
    "stop": annotations_of(StopRule),
    "variants": VariantTable.model_fields,
}
# Keys that no stack has, with the reason.
_REFUSED_KEYS = {
    "tcp_fast_open": TCP_FAST_OPEN,
    "fast_open": TCP_FAST_OPEN,
    "tfo": TCP_FAST_OPEN,
}


def explain_mistake(found: ErrorDetails) -> tuple[Path, str]:
    """Return the path and the message of one of pydantic's validation errors."""
    path: Path = tuple(found["loc"])
    key = path[-1]
    if found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        if key == "loss":
            return path, (
                "`loss` does not say which loss is meant: write `loss_two_way` (a request or "
                "its response is lost, as in the papers) or `loss_down` and `loss_up` (one "
                "packet is lost)"
            )
        keys: Collection[str] = PlanFile.model_fields
        if "cross_traffic" in path[:-1]:
            keys = annotations_of(CrossTraffic)
        elif "live" in path[:-1]:
            keys = annotations_of(LiveServer)
        elif path[0] == "variants" and "browser" in path[:-1]:
            keys = annotations_of(BrowserChange)
        elif len(path) > 1 and path[0] in _KEYS:
            keys = _KEYS[str(path[0])]
        if keys is StackTable.model_fields and key in _REFUSED_KEYS:
            return path, f"`{key}`: {_REFUSED_KEYS[key]}"
        if (other := _OTHER_WORDS.get(str(key))) in keys:
            return path, f"unknown key `{key}`; did you mean `{other}`?"
        return path, unknown("key", str(key), keys)
    if key != "comparisons" and path[0] == "comparisons":
        return path[:2], "`comparisons`: each is two names: a stack and its reference"
    if found["type"] in ("missing", "missing_argument"):
        return path[:-1], f"`{key}` is missing; add it"
    # For a union, pydantic appends the alternative to the key.
    keys_of_path = (part for part in reversed(path) if isinstance(part, str) and "[" not in part)
    name = next(keys_of_path, "")
    close = None
    if found["type"] == "literal_error" and isinstance(found["input"], str):
        close = nearest(found["input"], re.findall(r"'([^']+)'", found["ctx"]["expected"]))
    return path, f"`{name}`: {reason_of(found)}{f'; did you mean `{close}`?' if close else ''}"


class KeyedError(ValueError):
    """An error in one key of a table; `key` is used to find its line."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


MESSAGE_MAX = 600
Report = Callable[[Path, str], None]


class Problems:
    """Collects all mistakes, so that a plan can be fixed in one go; reported in order of lines."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._lines = line_numbers(text)
        self._found: list[tuple[int, str]] = []
        self.places: Mapping[str, list[int]] = {}
        """Indexes in the file of the elements of each list with expanded patterns, by key."""

    def add(self, path: Path, message: str) -> None:
        """Add a mistake at `path`, the place of the value after the expansion of patterns."""
        line = line_of(self._lines, self._origin(path))
        if len(message) > MESSAGE_MAX:  # it quotes a value of the plan, which may be of any length
            message = f"{message[:MESSAGE_MAX]}..."
        self._found.append((line, f"{self._file}:{line}: {message}"))

    def refused(self) -> PlanError:
        """Return an error with all mistakes so far."""
        return PlanError(
            [message for _, message in sorted(self._found, key=lambda entry: entry[0])]
        )

    def refuse_any(self) -> None:
        """Raise `PlanError` if there is a mistake."""
        if self._found:
            raise self.refused()

    def _origin(self, path: Path) -> Path:
        origins = self.places.get(str(path[0]), []) if path else []
        if len(path) > 1 and isinstance(path[1], int) and path[1] < len(origins):
            return (path[0], origins[path[1]], *path[2:])
        return path
