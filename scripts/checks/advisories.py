"""Looks up known weaknesses of what is pinned: crates in Cargo.lock, packages in the lock files.

A database is a folder of advisories in the OSV format, JSON or YAML, at any depth: the branch `osv`
of RustSec's advisory-db, PyPA's advisory-database. EYELEVEL_ADVISORIES names one or more, as PATH
does. Nothing is fetched: without a database one line says that nothing was looked up.
"""

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
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
"""By ecosystem and name, the versions."""


def pinned(root: Path) -> Pinned:
    """All that the lock files name and that comes from a registry."""
    found: Pinned = {}
    lock = tomllib.loads((root / "Cargo.lock").read_text(encoding="utf-8"))
    for crate in lock["package"]:
        if "source" in crate:
            found.setdefault(("crates.io", crate["name"]), set()).add(crate["version"])
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (root / name).read_text(encoding="utf-8")
        for package, version in re.findall(r"^([\w.-]+)==([^\s;\\]+)", text, re.MULTILINE):
            found.setdefault(("PyPI", canonicalize_name(package)), set()).add(version)
    return found


def advisories(folder: Path) -> Iterator[Any]:
    """Each file of a database, read. Raises ValueError if there is none."""
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
                if is_affected(version, affected):
                    said = advisory.get("summary") or advisory.get("details", "").split("\n")[0]
                    lines.append(f"{name} {version}: {advisory['id']}: {said}")
    return sorted(set(lines))


def is_affected(version: str, affected: Any) -> bool:
    """As the OSV schema evaluates: a version that is listed, or that lies in a range."""
    if version in affected.get("versions", ()):
        return True
    kinds = ("SEMVER", "ECOSYSTEM")
    ranges = [each for each in affected.get("ranges", ()) if each["type"] in kinds]
    return any(_lies_in(_order(version), each["events"]) for each in ranges)


def _lies_in(version: Version, events: list[dict[str, str]]) -> bool:
    is_in = False
    for event in sorted(events, key=lambda event: _order(next(iter(event.values())))):
        (kind, at), *_ = event.items()
        if kind == "introduced" and version >= _order(at):
            is_in = True
        elif (kind == "fixed" and version >= _order(at)) or (
            kind == "last_affected" and version > _order(at)
        ):
            is_in = False
    return is_in


def _order(version: str) -> Version:
    # What semantic versions write behind a plus sign orders nothing.
    try:
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
