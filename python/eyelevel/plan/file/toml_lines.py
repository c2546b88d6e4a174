"""Find the lines of keys and array elements in a TOML text, for messages.

The text has been parsed before, so it is known to be well formed: this parser only follows strings,
comments, brackets and keys, and counts lines.
"""

import re
from collections.abc import Iterator

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
