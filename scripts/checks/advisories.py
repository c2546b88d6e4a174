"""Looks up known weaknesses of what is pinned: crates in Cargo.lock, packages in the lock files.

A database is a folder of advisories in the OSV format, JSON or YAML, at any depth: the branch `osv`
of RustSec's advisory-db, PyPA's advisory-database. EYELEVEL_ADVISORIES names one or more, as PATH
does. Nothing is fetched: without a database one line says that nothing was looked up.

Versions are ordered as their registry orders them: crates by SemVer, in which `1.0.0-0` comes
before `1.0.0`, packages by PEP 440, in which it comes after.
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from scripts.arguments import ROOT, parser_of

VARIABLE = "EYELEVEL_ADVISORIES"
IGNORED: dict[str, str] = {}
"""Advisories that do not touch us, by identifier, each with the reason."""

Pinned = dict[tuple[str, str], set[str]]
"""The pinned versions by ecosystem and name."""


def pinned(root: Path) -> Pinned:
    """Return all that the lock files name and that comes from a registry."""
    found: Pinned = {}
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    for crate in lock["package"]:
        if "source" in crate:
            found.setdefault(("crates.io", crate["name"]), set()).add(crate["version"])
    for file in (*root.glob("requirements*.lock"), root / "packaging/image/requirements.lock"):
        text = file.read_text(encoding="utf-8")
        for package, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE):
            found.setdefault(("PyPI", canonicalize_name(package)), set()).add(version)
    return found


def advisories(folder: Path) -> Iterator[Any]:
    """Yield each file of a database, read. Raises ValueError if there is none."""
    files = [file for kind in ("json", "yaml") for file in folder.rglob(f"*.{kind}")]
    files = [file for file in files if not any(part.startswith(".") for part in file.parts)]
    if not files:
        raise ValueError(f"{folder}: no advisory in the OSV format is there")
    for file in files:
        text = file.read_text(encoding="utf-8")
        yield json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)


def faults(found: Iterable[Any], pins: Pinned) -> list[str]:
    """A line for each pinned version that an advisory names and that nobody withdrew."""
    lines = []
    for advisory in found:
        if "withdrawn" in advisory or advisory["id"] in IGNORED:
            continue
        for affected in advisory.get("affected", ()):
            package = affected["package"]
            name = package["name"]
            if package["ecosystem"] == "PyPI":
                name = canonicalize_name(name)
            for version in sorted(pins.get((package["ecosystem"], name), ())):
                try:
                    is_hit = is_affected(version, affected)
                except ValueError as error:
                    raise ValueError(f"{advisory['id']}: {name}: {error}") from None
                if is_hit:
                    said = advisory.get("summary") or advisory.get("details", "").split("\n")[0]
                    lines.append(f"{name} {version}: {advisory['id']}: {said}")
    return sorted(set(lines))


def is_affected(version: str, affected: Any) -> bool:
    """Return whether a version is affected, as the OSV schema evaluates: listed, or in a range.

    Raises ValueError if a range of semantic versions has a bound that is none.
    """
    if version in affected.get("versions", ()):
        return True
    is_crate = affected["package"]["ecosystem"] == "crates.io"
    for each in affected.get("ranges", ()):
        if each["type"] not in ("SEMVER", "ECOSYSTEM"):
            continue
        order = _semver if each["type"] == "SEMVER" or is_crate else _pep440
        if _lies_in(version, each["events"], order):
            return True
    return False


def _lies_in(text: str, events: list[dict[str, str]], order: Callable[[str], Any]) -> bool:
    version, is_in = order(text), False
    bounds = [
        (order(at), kind) for event in events for kind, at in event.items() if kind in _BOUNDS
    ]
    for at, kind in sorted(bounds, key=lambda bound: bound[0]):
        if kind == "introduced" and version >= at:
            is_in = True
        elif (kind == "fixed" and version >= at) or (kind == "last_affected" and version > at):
            is_in = False
    return is_in


_BOUNDS = ("introduced", "fixed", "last_affected")
_SEMVER = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([\dA-Za-z.-]+))?(?:\+[\dA-Za-z.-]+)?")


def _semver(version: str) -> tuple[Any, ...]:
    """Return a key that orders versions by semver.org's clause 11; `0` comes first, as in OSV."""
    if version == "0":
        return ()
    if not (found := _SEMVER.fullmatch(version)):
        raise ValueError(f"{version!r} is no semantic version")
    *core, before = found.groups()
    # Numbers come before words and are compared as numbers; what has more parts comes later.
    parts = [
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in (before or "").split(".")
    ]
    return (*map(int, core), before is None, parts)


def _pep440(version: str) -> Version:
    try:
        # A local version, behind a plus sign, has the weaknesses of its public one.
        return Version(version.partition("+")[0])
    except InvalidVersion:
        return Version(re.match(r"[\d.]*", version)[0].strip(".") or "0")  # type: ignore[index]


def main(root: Path, folders: list[Path]) -> int:
    """Prints what is known, a line each, or that nothing was looked up."""
    if not folders:
        said = f"{VARIABLE} names no database (scripts/checks/advisories.py)"
        print(f"advisories were not looked up: {said}")
        return 0
    pins = pinned(root)
    try:
        lines = [line for folder in folders for line in faults(advisories(folder), pins)]
    except ValueError as error:
        print(error)
        return 1
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    parser_of(__doc__).parse_args()
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    sys.exit(main(ROOT, [Path(each) for each in named if each]))
