"""Decisions are numbered and dated, and one index lists them."""

import re

from repository import ROOT

FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(each for each in FOLDER.glob("*.md") if each.name != "index.md")
DATE = re.compile(r"\d{4}-\d\d-\d\d")


def test_records_are_numbered_without_gaps_in_the_order_of_their_dates():
    heads = [each.read_text(encoding="utf-8").splitlines()[:3] for each in RECORDS]
    dates = [head[2].removeprefix("Decided on ").removesuffix(".") for head in heads]
    assert [each.name[:5] for each in RECORDS] == [f"{n:04}-" for n in range(1, len(RECORDS) + 1)]
    assert all(DATE.fullmatch(date) for date in dates) and dates == sorted(dates)


def test_the_index_lists_each_record_with_its_date_and_title():
    index = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    rows = []
    for each in RECORDS:
        title, _, date = each.read_text(encoding="utf-8").splitlines()[:3]
        link = f"[{title.removeprefix('# ')}]({each.name})"
        rows.append(f"| {each.name[:4]} | {date.removeprefix('Decided on ')[:-1]} | {link} |")
    assert [line for line in index if line.startswith("| 0")] == rows
