"""Extract the messages in the data plane's sources: templates of errors, and their values."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from repository import ROOT

CRATES = ROOT / "crates"
_TEXT = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
_CONTINUED = re.compile(r"\\\n\s*")
_PAIRS = {"(": ")", "{": "}"}
_TEMPLATE = re.compile(r"#\[error\(")
_NAME = re.compile(r"(?:pub )?(?:enum|struct) (\w+)|^ {4}(\w+)", re.MULTILINE)
_DEFINITION = re.compile(r"(?:pub )?(?:enum|struct) (\w+)")


@dataclass(frozen=True)
class Place:
    """A call with what stands in it, or an attribute with the name of what it is of."""

    where: str
    """`crate/src/file.rs:line`."""
    name: str
    code: str

    @property
    def texts(self) -> list[str]:
        """The literal texts in it."""
        return [_CONTINUED.sub("", text) for text in _TEXT.findall(self.code)]


def sources() -> Iterator[tuple[str, str]]:
    """Yield each file of what is built, without its tests."""
    for file in sorted(CRATES.glob("*/src/**/*.rs")):
        name = str(file.relative_to(CRATES))
        if not name.startswith("fuzz/") and file.name != "tests.rs":
            yield name, file.read_text("utf-8").split("#[cfg(test)]\nmod tests")[0]


def templates() -> Iterator[Place]:
    """Yield each `#[error(...)]`, by `crate::Enum::Variant` or `crate::Struct`."""
    for file, text in sources():
        for match in _TEMPLATE.finditer(text):
            code, end = _balanced(text, match.end() - 1)
            owner = [found[1] for found in _DEFINITION.finditer(text, 0, match.start())]
            after = _NAME.search(text, end)
            assert after, file
            crate = Path(file).parts[0]
            is_variant = after[2] is not None
            name = f"{crate}::{owner[-1]}::{after[2]}" if is_variant else f"{crate}::{after[1]}"
            yield Place(_at(file, text, match.start()), name, code)


def calls(of: Sequence[tuple[str, str]], done: Callable[[Place], bool]) -> Iterator[Place]:
    """Yield each place in files that begin with the one and that opens as the other, a pattern,
    says; and the calls of whatever fills such a place in the same file for others and is not
    `done`."""
    for file, text in sources():
        for start, pattern in of:
            if not Path(file).is_relative_to(start):
                continue
            opening = re.compile(pattern)
            for name in (None, *_helpers(text, opening, done)):
                found = opening if name is None else re.compile(rf"(?<!fn )\b{name}\(")
                for match in found.finditer(text):
                    code, _ = _balanced(text, match.end() - 1)
                    yield Place(_at(file, text, match.start()), name or match[0], code)


def _helpers(text: str, opening: re.Pattern[str], done: Callable[[Place], bool]) -> Iterator[str]:
    """Closures and functions with such a place, which gets a parameter's words."""
    made = re.compile(r"let (\w+) =\s*(?:move )?\|[^|]+\|([^;]*;)|fn (\w+)\([^{]*-> \w*Error \{")
    for match in made.finditer(text):
        body = match[2] or _balanced(text, match.end() - 1)[0]
        name = match[1] or match[3]
        if opening.search(body) and not done(Place("", name, body)):
            yield name


def _balanced(text: str, start: int) -> tuple[str, int]:
    """Return the text between the bracket at `start` and its other end, and that end."""
    opened, closed = text[start], _PAIRS[text[start]]
    depth, at = 0, start
    while at < len(text):
        if text[at] == '"' and text[at - 1] != "'":
            match = _TEXT.match(text, at)
            assert match, text[at : at + 80]
            at = match.end()
            continue
        depth += (text[at] == opened) - (text[at] == closed)
        if not depth:
            return text[start + 1 : at], at
        at += 1
    raise AssertionError(f"no end of {text[start : start + 80]}")


def _at(file: str, text: str, place: int) -> str:
    return f"{file}:{text.count(chr(10), 0, place) + 1}"
