"""One number everywhere, and the changelog's section of it."""

import shutil
from pathlib import Path

import pytest
from repository import ROOT

from scripts.shipping import one_version


def test_this_tree_has_one_number():
    assert one_version.faults(ROOT) == []


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is looked at in the sources, to be changed; nothing is installed."""
    for name in ("Cargo.toml", "Cargo.lock", "CITATION.cff", "CHANGELOG.md", "README.md"):
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "scripts").mkdir()
    shutil.copyfile(ROOT / "scripts/fresh-machine", tmp_path / "scripts/fresh-machine")
    monkeypatch.setattr(one_version, "built", lambda: iter(()))
    assert one_version.faults(tmp_path) == []
    return tmp_path


NUMBER = one_version.workspace_version(ROOT)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("CITATION.cff", f"version: {NUMBER}", "version: 9.9.9"),
        ("CITATION.cff", f"version: {NUMBER}", ""),
        ("CHANGELOG.md", f"## {NUMBER}", "## 9.9.9"),
        (
            "Cargo.lock",
            f'"eyelevel-lab"\nversion = "{NUMBER}"',
            '"eyelevel-lab"\nversion = "9.9.9"',
        ),
        ("scripts/fresh-machine", f"eyelevel:{NUMBER}", "eyelevel:9.9.9"),
        ("README.md", "dist/eyelevel-*.whl", "dist/eyelevel-9.9.9-py3-none-any.whl"),
    ],
)
def test_another_number_is_found(tree, file, old, new):
    text = (tree / file).read_text(encoding="utf-8")
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    (fault, *_) = one_version.faults(tree)
    assert fault.startswith(file) and fault.endswith(f"Cargo.toml {NUMBER}")


def test_what_is_installed_has_the_number(monkeypatch):
    monkeypatch.setattr(one_version, "version", lambda name: "9.9.9")
    assert one_version.faults(ROOT) == [f"the installed package has 9.9.9, Cargo.toml {NUMBER}"]


def test_a_version_has_its_section_of_the_changelog(tmp_path):
    text = "# Changelog\n\n## 0.2.0 (2027-01-01)\n\nNew.\n\n### More\n\n## 0.1.0\n\nOld.\n"
    (tmp_path / "CHANGELOG.md").write_text(text)
    assert one_version.changes(tmp_path, "0.2.0") == "New.\n\n### More"
    assert one_version.changes(tmp_path, "0.1.0") == "Old."
    for number in ("0.3.0", "0.2"):
        with pytest.raises(ValueError, match="says nothing"):
            one_version.changes(tmp_path, number)


@pytest.mark.parametrize(
    ("heading", "is_dated"),
    [
        ("## 0.1.0 (2026-11-30)", True),
        ("## 0.1.0 (not released yet)", False),
        ("## 0.1.0 (2026-11-31)", False),
        ("## 0.1.0", False),
        ("## 0.2.0 (2026-11-30)", False),
    ],
)
def test_what_is_released_has_its_date(tmp_path, heading, is_dated):
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}\n\nNew.\n")
    found = one_version.undated(tmp_path, "0.1.0")
    assert (found == []) == is_dated
    assert is_dated or "CHANGELOG.md has no date for 0.1.0; write `## 0.1.0 (" in found[0]
