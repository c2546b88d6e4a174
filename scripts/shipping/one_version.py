"""Finds where the version is another than the workspace's in Cargo.toml, a line each.

Looked at are the locked crates, the citation, the changelog's newest entry, what both programs say
of themselves, and the golden bundle's locks; a guide that installs a file by its name, too.
"""

import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from scripts.arguments import root_asked

CITATION, CHANGELOG = "CITATION.cff", "CHANGELOG.md"
_ENTRY = re.compile(r"^## (\d+\.\d+\.\d+)(?: \((.+)\))?$", re.MULTILINE)
_CITED = re.compile(r"^version: \"?([^\"\n]+)\"?$", re.MULTILINE)
_FILE = re.compile(r"\beyelevel[-:](\d+\.\d+\.\d+)\b")
"""A file's name, or an image's."""


def workspace_version(root: Path) -> str:
    """The number that all others are held against."""
    manifest = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["workspace"]["package"]["version"])


def written(root: Path) -> Iterator[tuple[str, str]]:
    """Yield each place in the sources with the version that it has."""
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    for crate in lock["package"]:
        if crate["name"].startswith("eyelevel-") and "source" not in crate:
            yield f"Cargo.lock, {crate['name']}", crate["version"]
    cited = _CITED.search((root / CITATION).read_text(encoding="utf-8"))
    yield CITATION, cited[1] if cited else "none"
    entry = _ENTRY.search((root / CHANGELOG).read_text(encoding="utf-8"))
    yield CHANGELOG, entry[1] if entry else "none"
    pages = (root / "README.md", root / "scripts/fresh-machine")
    guides = sorted(each for kind in ("*.md", "*.yaml") for each in (root / "docs").rglob(kind))
    for page in (*pages, *guides):
        for found in _FILE.findall(page.read_text(encoding="utf-8")):
            yield str(page.relative_to(root)), found


def built() -> Iterator[tuple[str, str]]:
    """Yield the version of the installed package, if it is installed."""
    try:
        yield "the installed package", version("eyelevel")
    except PackageNotFoundError:
        return
    for program in ("eyelevel", "eyelevel-lab"):
        file = Path(sysconfig.get_path("scripts")) / program
        if file.exists():
            said = subprocess.run([file, "--version"], capture_output=True, text=True, check=True)
            words = said.stdout.split()
            yield f"{program} --version", words[1] if len(words) > 1 else said.stdout


def faults(root: Path) -> list[str]:
    """Return every place that has another version than Cargo.toml."""
    number = workspace_version(root)
    found = [*written(root), *built()]
    return [
        f"{place} has {other}, Cargo.toml {number}" for place, other in found if other != number
    ]


def changes(root: Path, number: str) -> str:
    """Return the changelog's text on a version, without its heading. ValueError if there is
    none."""
    text = (root / CHANGELOG).read_text(encoding="utf-8")
    entries = [*_ENTRY.finditer(text)]
    for entry, after in zip(entries, [*entries[1:], None], strict=True):
        if entry[1] == number:
            said = text[entry.end() : after.start() if after else len(text)].strip()
            if said:
                return said
    raise ValueError(f"{CHANGELOG} says nothing of {number}")


def undated(root: Path, number: str) -> list[str]:
    """Return why a version cannot be released yet: its heading in the changelog has no date."""
    for entry in _ENTRY.finditer((root / CHANGELOG).read_text(encoding="utf-8")):
        if entry[1] == number:
            with suppress(ValueError):
                date.fromisoformat(entry[2] or "")
                return []
    return [f"{CHANGELOG} has no date for {number}; write `## {number} ({date.today()})`"]


if __name__ == "__main__":
    wrong = faults(root_asked(__doc__))
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)
