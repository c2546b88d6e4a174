"""The pages of docs/replications and the table on the start page are of the same numbers."""

import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.docs.evidence import (
    BEGIN,
    END,
    NARROWED,
    PAGES,
    START,
    choose_machine,
    copy_figures,
    describe_changes,
    index_page,
    name_machine,
    read_numbers,
    with_table,
)

WORDS_MAX = 1200
FOUND = read_numbers()


def test_start_page_has_the_table_of_the_numbers_that_are_kept() -> None:
    start = START.read_text(encoding="utf-8")
    assert with_table(start, FOUND) == start


@pytest.mark.parametrize("name", FOUND)
def test_page_has_its_numbers_and_is_short_before_what_is_folded(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    numbers = FOUND[name]
    assert f"{numbers['asked']} were measured: {numbers['agrees']} agree" in page
    shown = page.partition("<details>")[0]
    assert len(shown.split()) <= WORDS_MAX
    for claim in numbers["claims"]:
        assert f"**{claim['id']}** " in page, claim["id"]


@pytest.mark.parametrize("name", FOUND)
def test_figures_of_a_page_are_beside_it(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"!\[[^]]+\]\((figures/[^)]+)\)", page))
    kept = (PAGES / "figures").glob(f"{name}-*.svg")
    assert shown == {f"figures/{each.name}" for each in kept}


def test_figures_of_an_earlier_page_are_removed(tmp_path: Path) -> None:
    out, pages = tmp_path / "out", tmp_path / "pages"
    for folder, files in ((out, "x-new x-unused"), (pages, "x-old y-kept")):
        (folder / "figures").mkdir(parents=True)
        for file in files.split():
            (folder / "figures" / f"{file}.svg").write_text(file, encoding="utf-8")
    copy_figures("x", "![A map.](figures/x-new.svg)", out, pages)
    assert sorted(each.name for each in (pages / "figures").iterdir()) == [
        "x-new.svg",
        "y-kept.svg",
    ]


def test_index_lists_every_page() -> None:
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    rows = [line for line in index_page(FOUND).splitlines() if line.startswith("| [")]
    assert rows
    assert all(row in index for row in rows)


def test_runs_of_another_browser_or_kernel_have_a_folder_of_their_own() -> None:
    name = name_machine()
    assert platform.release().lower().replace("_", "-") in name
    assert name.startswith(("chromium", "google-chrome"))


def test_runs_of_another_machine_are_read_if_the_installed_one_has_none(tmp_path: Path) -> None:
    out, kept = tmp_path / "out", tmp_path / "kept"
    for folder in (out, kept / "other" / "x", kept / "other" / "y", kept / "here" / "y"):
        folder.mkdir(parents=True)
    chosen = [choose_machine(name, "here", [out, kept]) for name in ("x", "y", "z")]
    assert chosen == ["other", "here", "here"]


def test_options_of_narrowed_texts_are_those_of_the_command() -> None:
    for text, options in NARROWED.items():
        words = [sys.executable, "-m", "eyelevel", "replicate", text, "--budget", "1s", *options]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert "by the estimate; give at least that" in done.stderr


def test_changes_are_those_of_verdicts() -> None:
    before = {
        "claims": [
            {"id": "A", "verdict": "agrees", "rows": [{}]},
            {"id": "B", "verdict": "agrees", "rows": [{}]},
            {"id": "D", "verdict": "not asked", "rows": []},
        ]
    }
    now = {
        "claims": [
            {"id": "A", "verdict": "disagrees"},
            {"id": "B", "verdict": "agrees"},
            {"id": "C", "verdict": "agrees"},
            {"id": "D", "verdict": "agrees"},
        ]
    }
    assert describe_changes("x", before, now) == ["x A: agrees before, disagrees now"]
    assert describe_changes("x", {}, now) == []


def test_table_stands_between_its_marks() -> None:
    text = with_table(f"before\n{BEGIN}\nstale row\n{END}\nafter\n", FOUND)
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "stale row" not in text
