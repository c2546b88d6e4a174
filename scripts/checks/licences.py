"""Holds the licences of Python packages; those of crates are in deny.toml.

What ships (requirements.lock) has a permissive licence; a tool of the developers (the rest of
requirements-dev.lock) may have a licence that asks for its source, for nothing of it is passed on.
`--list` prints every package with its licence.
"""

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

from scripts.arguments import ROOT, flag_asked

PERMISSIVE = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MIT-CMU",
    "PSF-2.0",
    "Unicode-3.0",
    "Unlicense",
    "ZPL-2.1",
    "Zlib",
}
"""Identifiers of SPDX. Each lets a work of any licence pass the dependency on, with its notice."""

OF_TOOLS = {
    "AGPL-3.0": "surt, of pywb, whose indexer reads what we write in a test",
    "GPL-2.0-only": "codespell, a program that `make check` runs",
    "GPL-3.0": "pywb, whose indexer reads what we write in a test",
    "LicenseRef-public-domain": "docutils, which reads pages for the site of the documentation",
    "MPL-2.0": "certifi and pathspec, of pywb and mypy",
}
"""Licences that a tool may have beside these, with the reason."""

SPELLINGS = {
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "2-clause BSD": "BSD-2-Clause",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",  # the classifier does not say which: either may ship
    "GNU Affero General Public License v3": "AGPL-3.0",
    "GPL": "GPL-3.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "ISC License": "ISC",
    "MIT License": "MIT",
    "PSFL": "PSF-2.0",
    "Public Domain": "LicenseRef-public-domain",
}
"""The SPDX spelling of licences that packages write differently."""

UNSTATED = {"axe-playwright-python": "MIT"}
"""Licences that only a package's LICENSE file says."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Return whether an SPDX expression can be met with these licences. `/` is an old way to write
    OR.

    An exception (WITH) only gives more rights. Raises ValueError if it cannot be read.
    """
    tokens = [*_TOKEN.findall(expression.replace("/", " OR ")), ""]

    def take(*wanted: str) -> bool:
        return tokens[0] in wanted and bool(tokens.pop(0))

    def one() -> bool:
        if take("("):
            met = either()
            if not take(")"):
                raise ValueError(expression)
            return met
        if tokens[0] in ("", ")", "AND", "OR", "WITH"):
            raise ValueError(expression)
        met = tokens.pop(0) in allowed
        if take("WITH"):
            tokens.pop(0)
        return met

    def both() -> bool:
        met = one()
        while take("AND"):
            met = one() and met
        return met

    def either() -> bool:
        met = both()
        while take("OR"):
            met = both() or met
        return met

    met = either()
    if tokens != [""]:
        raise ValueError(expression)
    return met


def pinned(lock: str) -> set[str]:
    """The packages that a lock file pins for this interpreter, by their name."""
    lines = re.findall(r"^([a-z0-9][^\\\n]*)", lock, re.MULTILINE)
    requirements = [Requirement(line.strip()) for line in lines]
    return {it.name for it in requirements if it.marker is None or it.marker.evaluate()}


def package_licence(metadata: importlib.metadata.PackageMetadata) -> str:
    """Return a package's licence in SPDX's spelling; empty if it states none that is known.

    A package says it in an expression, in a line of its own choice or in a classifier.
    """
    classifiers = metadata.get_all("Classifier") or []
    stated = [
        metadata.get("License-Expression"),
        metadata.get("License"),
        *(it.rpartition(" :: ")[2] for it in classifiers if it.startswith("License ::")),
    ]
    known = [it for it in stated if it and len(it.splitlines()) == 1]
    return SPELLINGS.get(known[0], known[0]) if known else UNSTATED.get(metadata["Name"], "")


def packages(root: Path, lock: str) -> Iterator[tuple[str, str]]:
    """Yield each package that is pinned, with its licence."""
    for name in sorted(pinned((root / lock).read_text(encoding="utf-8"))):
        metadata = importlib.metadata.metadata(name)
        yield f"{name} {metadata['Version']}", package_licence(metadata)


def main(root: Path, *, as_list: bool = False) -> int:
    """Prints every licence that is not allowed, or all."""
    shipped = dict(packages(root, "requirements.lock"))
    tools = dict(packages(root, "requirements-dev.lock"))
    faults = []
    for name, licence in sorted((tools | shipped).items()):
        if as_list:
            print(f"{name}\t{licence}\t{'ships' if name in shipped else 'tool'}")
        allowed = PERMISSIVE if name in shipped else PERMISSIVE | OF_TOOLS.keys()
        try:
            if not is_allowed(licence, allowed):
                faults.append(f"{name}: {licence} is not allowed")
        except ValueError:
            faults.append(f"{name}: its licence is {licence!r}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(ROOT, as_list=flag_asked(__doc__, "--list", "print each")))
