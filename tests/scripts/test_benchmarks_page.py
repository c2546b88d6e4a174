"""docs/benchmarks.md is written from the measured tables, which state what produced them."""

import re

from repository import ROOT

from scripts.docs.benchmarks_page import PAGE, PARTS, bounds, page_text, tables

FACTS = {"finding", "command", "date", "machine", "load average"}
DATE = re.compile(r"\d{4}-\d\d(-\d\d)?")


def test_the_page_is_written_from_the_data():
    assert PAGE.read_text(encoding="utf-8") == page_text()


def test_each_bound_has_every_cell_and_a_command_that_exists():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for row in bounds():
        assert row["part"] in PARTS and all(row.values()), row
        assert DATE.fullmatch(row["date"]) or row["measured"].startswith("not measured"), row
        make = re.match(r"make ([\w-]+)", row["command"])
        assert not make or make[1] in targets, row
    assert len(bounds()) > 60


def test_each_table_states_its_finding_command_date_machine_and_load():
    for path, table in tables().items():
        assert table.facts.keys() >= FACTS and all(table.facts.values()), path
        assert DATE.fullmatch(table.facts["date"]), path
        assert len(table.rows) > 1 and {len(row) for row in table.rows} == {len(table.rows[0])}
    assert {path.partition("/")[0] for path in tables()} == PARTS.keys()
