"""Finds dependencies of crates that no source of theirs names.

What `cargo machete` does, with the name that the compiler knows a crate by (`webpki` of
`rustls-webpki`), and more closely: an ordinary dependency that only tests name is one of tests. A
dependency that is declared for its features alone says so in
`[package.metadata.used] NAME = "reason"`.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from scripts.arguments import root_asked
from scripts.checks.crate_layers import code_of

_NAMED = re.compile(r"(?<!\w::)\b(\w+)\s*::|\b(?:use|extern crate)\s+(\w+)\s*[;:]")
"""A path's first segment, or a crate that is brought in whole."""


def unused(package: dict[str, Any], names: dict[str, str]) -> list[str]:
    """A crate's dependencies that it does not use. `names`: by package, as in code."""
    folder = Path(package["manifest_path"]).parent
    build = [folder / "build.rs"] if (folder / "build.rs").exists() else []
    product = _named([*folder.glob("src/**/*.rs"), *build], tests=False)
    everything = _named(folder.rglob("*.rs"), tests=True)
    exempt = ((package["metadata"] or {}).get("used") or {}).keys()
    faults = []
    for dependency in package["dependencies"]:
        name = dependency["name"]
        word = dependency["rename"] or names.get(name, name)
        is_of_tests = dependency["kind"] == "dev"
        if name in exempt or word.replace("-", "_") in (everything if is_of_tests else product):
            continue
        only = " but tests" if not is_of_tests and word.replace("-", "_") in everything else ""
        faults.append(f"{package['name']}: nothing{only} uses {name}")
    return faults


def _named(files: Iterable[Path], *, tests: bool) -> set[str]:
    texts = (code_of(file.read_text(encoding="utf-8"), tests=tests) for file in files)
    return {name for text in texts for names in _NAMED.findall(text) for name in names}


def main(folder: Path) -> int:
    """Prints what is unused, a line each."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    answer = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    metadata = json.loads(answer.stdout)
    libraries = (
        (package["name"], target["name"])
        for package in metadata["packages"]
        for target in package["targets"]
        if {"lib", "proc-macro"} & {*target["kind"]}
    )
    names = dict(libraries)
    ours = [package for package in metadata["packages"] if not package["source"]]
    faults = [fault for package in ours for fault in unused(package, names)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(root_asked(__doc__)))
