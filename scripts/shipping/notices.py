"""Writes THIRD-PARTY-NOTICES.txt: the licences of the crates that are in the wheel's binary.

Most of them ask that their text goes where the binary goes: maturin puts the file into the wheel.
`--check` writes nothing and fails where the file is not what would be written.
"""

import re
import sys
from pathlib import Path

from scripts.arguments import ROOT, flag_asked
from scripts.shipping.sbom import PLATFORM, built_into

FILE = "THIRD-PARTY-NOTICES.txt"
HEAD = """\
The program eyelevel-lab contains the crates below, each under the licence that it names, with the
texts that came with it; of one that offers MIT or Apache-2.0 the former's. Written by
scripts/shipping/notices.py.
"""
SOURCE = "https://crates.io/crates"
"""The address of a crate's source: the MPL asks whoever passes the program on to name it (3.2)."""
_NAMES = re.compile(r"(?i)(licen[cs]e|copying|notice|unlicense)[\w.-]*")
_RULE = "\n" + "-" * 80 + "\n"


def notices(root: Path) -> str:
    """The whole file: each text once, below all crates that came with it."""
    owners: dict[str, list[str]] = {}
    listed = []
    for package in built_into(root, PLATFORM):
        if not package["source"]:
            continue
        name = f"{package['name']} {package['version']}"
        texts = texts_of(Path(package["manifest_path"]).parent, package["license"])
        said = "" if texts else f" (no text came with it; {package['repository'] or 'crates.io'})"
        if "MPL-" in package["license"]:
            said += f" (its source: {SOURCE}/{package['name']}/{package['version']})"
        listed.append(f"{name}: {package['license']}{said}\n")
        for text in texts:
            owners.setdefault(text, []).append(name)
    parts = [HEAD + "\n" + "".join(sorted(listed))]
    parts += sorted(f"{', '.join(sorted(names))}\n\n{text}\n" for text, names in owners.items())
    return _RULE.join(parts)


def texts_of(folder: Path, licence: str) -> list[str]:
    """The licences and notices at the top of a crate, without blanks at the ends of their lines."""
    files = [it for it in sorted(folder.iterdir()) if it.is_file() and _NAMES.fullmatch(it.name)]
    if " AND " not in licence and any("MIT" in it.name.upper() for it in files):
        files = [it for it in files if "APACHE" not in it.name.upper()]
    found = [file.read_text(encoding="utf-8") for file in files]
    return ["\n".join(line.rstrip() for line in text.strip().splitlines()) for text in found]


def main(root: Path, *, is_check: bool) -> int:
    """Writes the file, or says that it is not as it should be."""
    text = notices(root)
    file = root / FILE
    if not is_check:
        file.write_text(text, encoding="utf-8")
    elif not file.exists() or file.read_text(encoding="utf-8") != text:
        print(f"{FILE} is not of the crates in Cargo.lock: run python -m scripts.shipping.notices")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(ROOT, is_check=flag_asked(__doc__, "--check", "write nothing")))
