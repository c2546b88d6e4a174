"""What `eyelevel probe report` prints."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eyelevel.cli.probe.commands import app
from eyelevel.cli.probe.report import parts_of_name

NAME = "2026-11-23-berlin-cable_evening.jsonl"


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (80, [NAME]),
        (37, [NAME]),
        (36, ["2026-11-23-berlin-cable_evening.", "jsonl"]),
        (12, ["2026-11-23-", "berlin-", "cable_", "evening.", "jsonl"]),
        (-3, ["2026-", "11-", "23-", "berlin-", "cable_", "evening.", "jsonl"]),
    ],
)
def test_a_files_name_is_broken_behind_separators_alone(width: int, lines: list[str]) -> None:
    assert parts_of_name(NAME, width).split("\n") == lines


@pytest.mark.parametrize("name", ["", "-", "a--b", "../x", "no_ending", "ü.jsonl", "a b"])
def test_nothing_of_a_name_is_left_out(name: str) -> None:
    assert parts_of_name(name, 1).replace("\n", "") == name


def test_one_hosts_dns_times_are_printed_as_figures_4_1_and_4_2_have_them(tmp_path: Path) -> None:
    base = {"event": "attempt", "protocol": "tls1.3", "failure": None, "family": "v4"}
    base |= {"vantage": "desk", "connection_us": 20_000, "address": "192.0.2.1"}
    rows = [
        {**base, "host": host, "timestamp": f"2026-08-03T05:{n:02}:00.000Z", "dns_us": dns_us}
        for host, first in (("a.example", 1000), ("b.example", 90_000))
        for n, dns_us in enumerate(range(first, first + 3000, 1000))
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    plain = CliRunner().invoke(app, ["report", str(path)])
    assert plain.exit_code == 0 and "DNS times" not in plain.output
    asked = CliRunner().invoke(app, ["report", str(path), "--host", "a.example"])
    lines = [line.split() for line in asked.output.partition("DNS times")[2].splitlines()]
    (found,) = (line for line in lines if "tls1.3" in line)
    assert found[-6:] == ["v4", "desk", "3", "1.1", "2.0", "2.9"]
