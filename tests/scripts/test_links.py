"""Links that lead nowhere are found, in Markdown and in comments."""

from pathlib import Path

import pytest
from repository import ROOT

from scripts.checks.links import anchors, faults


def test_every_link_of_the_project_leads_somewhere():
    assert faults(ROOT) == []


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    pages = {
        "README.md": "# Read *me*: first\n",
        "benchmarks/path/__main__.py": "",
        "benchmarks/path/bulk.py": "",
        "docs/guide.md": "# Guide\n\n## Two `words`, more\n\n## Twice\n\n## Twice\n",
        "crates/one/src/lib.rs": "",
    }
    for name, text in pages.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "[guide](guide.md), [top](../README.md#read-me-first), [here](#title)",
        "[words](guide.md#two-words-more), [second](/docs/guide.md#twice-1)",
        "[web](https://a.example/b.md), [mail](mailto:a@example.org)",
        "`[code](none.md)`\n\n```\n[fenced](none.md)\n```\n",
        "`docs/guide.md`, `crates/one/src/lib.rs`, `crates/NAME`, my-docs/none.md",
        "`python -m benchmarks.path`, `-m benchmarks.path.bulk`, `-m benchmarks.ROOM.FILE`",
        '<a id="own"></a>[own](#own)\n\n[ref]: guide.md#twice\n',
    ],
)
def test_a_link_that_leads_somewhere_is_none(repository, text):
    (repository / "docs/page.md").write_text("# Title\n\n" + text, encoding="utf-8")
    assert faults(repository) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[gone](gone.md)", "docs/gone.md is not there"),
        ("[gone]: gone.md", "docs/gone.md is not there"),
        ('<img src="gone.svg">', "docs/gone.svg is not there"),
        ("see docs/gone.md", "docs/gone.md is not there"),
        ("see `crates/one/gone.rs`", "crates/one/gone.rs is not there"),
        ("[none](#none)", "docs/page.md has no heading #none"),
        ("[none](guide.md#none)", "docs/guide.md has no heading #none"),
        ("[third](guide.md#twice-2)", "docs/guide.md has no heading #twice-2"),
        ("docs/guide.md#none", "docs/guide.md has no heading #none"),
    ],
)
def test_a_link_that_leads_nowhere_is_a_fault(repository, text, fault):
    (repository / "docs/page.md").write_text("# Title\n\n" + text, encoding="utf-8")
    assert faults(repository) == [f"docs/page.md: {fault}"]


def test_comments_name_pages(repository):
    (repository / "crates/one/src/lib.rs").write_text("//! spec/gone.md\n", encoding="utf-8")
    assert faults(repository) == ["crates/one/src/lib.rs: spec/gone.md is not there"]


@pytest.mark.parametrize(
    ("module", "gone"),
    [
        ("scripts.links", "scripts/links.py"),
        ("benchmarks.path.gone", "benchmarks/path/gone.py"),
    ],
)
def test_a_command_names_a_module_that_there_is(repository, module, gone):
    (repository / "run").write_text(f"python -m {module} --check\n", encoding="utf-8")
    assert faults(repository) == [f"run: {gone} is not there"]


def test_a_folder_without_a_main_is_no_command(repository):
    (repository / "benchmarks/path/__main__.py").unlink()
    (repository / "Makefile").write_text("\t$(PYTHON) -m benchmarks.path $(PARTS)\n")
    assert faults(repository) == ["Makefile: benchmarks/path/__main__.py is not there"]


def test_a_heading_in_code_is_none():
    assert anchors("# One\n\n```sh\n# two\n```\n") == {"one"}
