"""What `eyelevel probe report` prints."""

import pytest

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
