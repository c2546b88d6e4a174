"""From docs/index.md a reader finds each page within two clicks."""

import re
from pathlib import Path

from repository import ROOT

LINK = re.compile(r"\]\(([^)#\s:]+\.md)")
CLICKS_MAX = 2
OUTSIDE = {ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"}


def linked(page: Path) -> set[Path]:
    """Return the pages that a page links to."""
    text = page.read_text(encoding="utf-8")
    return {(page.parent / target).resolve() for target in LINK.findall(text)}


def test_each_page_is_at_most_two_clicks_from_the_index():
    found = {ROOT / "docs" / "index.md"}
    for _ in range(CLICKS_MAX):
        found |= {target for page in found for target in linked(page)}
    pages = {*(ROOT / "docs").rglob("*.md"), *(ROOT / "spec").glob("*.md"), *OUTSIDE}
    assert sorted(str(page.relative_to(ROOT)) for page in pages - found) == []
