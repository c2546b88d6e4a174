"""Decisions are numbered and dated, in one index; measured tables state what produced them."""

import csv
import re

from repository import ROOT

FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(each for each in FOLDER.glob("*.md") if each.name != "index.md")
RESULTS = sorted((ROOT / "benchmarks" / "results").rglob("*.csv"))
NEEDED = {"command", "date", "machine", "load average"}
DATE = re.compile(r"\d{4}-\d\d(-\d\d)?")


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


def test_each_measured_table_states_its_command_date_machine_and_load():
    for file in RESULTS:
        lines = file.read_text(encoding="utf-8").splitlines()
        notes = [line[2:].partition(": ") for line in lines if line.startswith("# ")]
        facts = {key: value for key, _, value in notes}
        rows = list(csv.reader(line for line in lines if not line.startswith("# ")))
        assert facts.keys() >= NEEDED and all(facts.values()), file.name
        assert DATE.fullmatch(facts["date"]), file.name
        assert len(rows) > 1 and {len(row) for row in rows} == {len(rows[0])}, file.name
    assert len(RESULTS) > 10
