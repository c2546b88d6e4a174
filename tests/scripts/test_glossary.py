"""Names that docs/glossary.md lists as replaced are not in the tree."""

import re
import subprocess

import pytest
from repository import ROOT

CODE = ("python", "crates", "tests", "benchmarks", "scripts")
_ROW = re.compile(r"^\| (?P<term>[^|]+) \| [^|]+ \|(?P<replaces>[^|]*)\|$", re.MULTILINE)


def read_replaced_names():
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    rows = [row for row in _ROW.finditer(text) if row["term"] not in ("term", "---")]
    assert len(rows) > 40, "the table's form has changed"
    return sorted({name for row in rows for name in re.findall(r"`([^`]+)`", row["replaces"])})


@pytest.fixture(scope="module")
def files():
    command = ["git", "ls-files", "-z", *CODE]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name]


@pytest.fixture(scope="module")
def texts(files):
    suffixes = (".py", ".rs", ".toml", ".json", ".html")
    left_out = ("tests/scripts/test_glossary.py", "tests/mutations.toml")
    names = [name for name in files if name.endswith(suffixes) and name not in left_out]
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in names}


@pytest.mark.parametrize("name", read_replaced_names())
def test_a_replaced_name_is_gone(name, files, texts):
    if name.endswith(("/", ".py")):
        there = [file for file in files if re.search(rf"(^|/){re.escape(name)}", file)]
    else:
        word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        there = [file for file, text in texts.items() if word.search(text)]
    assert not there, f"docs/glossary.md: `{name}` was replaced; use the term of its row"
