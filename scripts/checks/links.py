"""Finds links that lead nowhere: in Markdown every relative link and its anchor and every path in
backquotes, and in all texts and comments the pages of docs/ and spec/ and the modules of
benchmarks/ and scripts/ (`python -m`) that they name.
"""

import re
import sys
from collections import Counter
from pathlib import Path

from scripts.arguments import root_asked

TEXTS = {".css", ".html", ".js", ".md", ".py", ".rs", ".sh", ".toml", ""}
NOT_OURS = {"target", "results", "node_modules", "corpus", "out", "__pycache__"}
"""Folders that hold builds, runs and data."""
MADE_UP = "test_links.py"
"""The test of this script names pages that are nowhere."""

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|^\[[^\]]+\]:\s*(\S+)|(?:src|href|srcset)=\"([^\"]+)", re.M)
_NAMED = re.compile(r"(?<![\w./-])((?:docs|spec)/[\w/.-]+\.(?:md|json|svg))(#[\w-]+)?")
_PATH = re.compile(r"`((?:benchmarks|crates|python|scripts)/[\w./-]+)`")
_MODULE = re.compile(r"-m ((?:benchmarks|scripts)(?:\.[a-z_]\w*)+)")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)
_TARGET = re.compile(r"<a (?:id|name)=\"([^\"]+)")
_ELSEWHERE = re.compile(r"^[a-z][a-z+.-]*:|^//", re.IGNORECASE)


def anchors(page: str) -> set[str]:
    """Return the anchors of a page, as GitHub names headings: small letters and hyphens."""
    text = _FENCE.sub("", page)
    seen: Counter[str] = Counter()
    found = set(_TARGET.findall(text))
    for heading in _HEADING.findall(text):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def faults(root: Path) -> list[str]:
    """The links below `root` that lead nowhere, a line each."""
    found = []
    for file in _files(root):
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        targets = [(root / name, anchor[1:]) for name, anchor in _NAMED.findall(text)]
        targets += [(_file_of(root, module), "") for module in _MODULE.findall(text)]
        if file.suffix == ".md":
            # A word in capitals stands for a name of the reader's.
            paths = [path for path in _PATH.findall(text) if not path.rpartition("/")[2].isupper()]
            targets += [(root / path, "") for path in paths]
            prose = _CODE.sub("", _FENCE.sub("", text))
            for link in (next(filter(None, groups)) for groups in _LINK.findall(prose)):
                if not _ELSEWHERE.match(link):
                    path, _, anchor = link.partition("#")
                    folder = root if path.startswith("/") else file.parent
                    targets.append((folder / path.lstrip("/") if path else file, anchor))
        for target, anchor in targets:
            shown = f"{file.relative_to(root)}: {target.relative_to(root)}"
            if not target.exists():
                found.append(f"{shown} is not there")
            elif anchor and target.suffix == ".md" and anchor not in _anchors(target):
                found.append(f"{shown} has no heading #{anchor}")
    return found


def _anchors(page: Path) -> set[str]:
    return anchors(page.read_text(encoding="utf-8"))


def _file_of(root: Path, module: str) -> Path:
    """Return the file that `python -m` runs: a module's, or a folder's `__main__`."""
    path = root.joinpath(*module.split("."))
    return path / "__main__.py" if path.is_dir() else path.with_suffix(".py")


def _files(folder: Path) -> list[Path]:
    files = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in NOT_OURS and not path.name.startswith("."):
            files += _files(path)
        elif path.is_file() and path.suffix in TEXTS and path.name != MADE_UP:
            files.append(path)
    return files


if __name__ == "__main__":
    wrong = faults(root_asked(__doc__))
    for fault in wrong:
        print(fault)
    sys.exit(1 if wrong else 0)
