"""Report cards become rows and a page; a disturbed one is told from them."""

import dataclasses

import pytest

from benchmarks.level import servers
from benchmarks.level.servers import (
    Row,
    format_page,
    format_table,
    is_disturbed,
    list_rows,
    replace_rows,
)

FINDING = {
    "version": "h3",
    "aspect": "first usable byte",
    "network": "far",
    "grade": "allowed",
    "server": 12.5,
    "level": 10.0,
    "unit": "ms",
    "difference": {
        "value": 2.5, "low": 1.0, "high": 3.5, "p": None, "undetermined_because": None,
    },
}  # fmt: skip
NO_VALUE = {
    **FINDING,
    "grade": "unknown",
    "server": None,
    "difference": {
        "value": None, "low": None, "high": None, "p": None, "undetermined_because": "no value",
    },
}  # fmt: skip


def rows(server: str, *findings: dict) -> list[Row]:
    return list_rows(server, f"{server} 1.0", "2026-11-29", "load 0.01", findings)


def test_a_finding_is_a_row_with_its_interval_and_a_missing_value_is_told() -> None:
    told, missing = rows("caddy", FINDING, NO_VALUE)
    assert (told.protocol, told.measured, told.level) == ("HTTP/3", "12.5 ms", "10 ms")
    assert told.difference == "+2.5 ms (+1.0 to +3.5)"
    assert (missing.measured, missing.difference) == ("not measured", "")


@pytest.mark.parametrize(("unknown", "known"), [(2, 1), (1, 1), (0, 1)])
def test_a_card_of_which_most_is_unknown_is_of_a_disturbed_machine(
    unknown: int, known: int
) -> None:
    card = rows("caddy", *[NO_VALUE] * unknown, *[FINDING] * known)
    assert is_disturbed(card) == (unknown > known)


def test_a_server_that_is_measured_again_replaces_its_own_rows_alone(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [*rows("nginx", FINDING), *rows("caddy", FINDING, FINDING)]
    new = [dataclasses.replace(row, version="2") for row in rows("caddy", FINDING)]
    both = replace_rows(kept, new)
    assert [(row.server, row.version) for row in both] == [("caddy", "2"), ("nginx", "nginx 1.0")]
    monkeypatch.setattr(servers, "TABLE", tmp_path / "table.csv")
    assert servers.read_table() == []
    servers.TABLE.write_text(format_table(both, "command"), "utf-8")
    assert servers.read_table() == both


def test_the_page_has_a_table_for_each_server() -> None:
    page = format_page([*rows("caddy", FINDING), *rows("nginx", FINDING, NO_VALUE)])
    assert "## caddy\n\ncaddy 1.0; 2026-11-29, load 0.01.\n\n| protocol |" in page
    line = (
        "| HTTP/3 | first usable byte | far | allowed | 12.5 ms | 10 ms | +2.5 ms (+1.0 to +3.5) |"
    )
    assert page.count(line) == 2
