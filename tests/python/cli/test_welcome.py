"""`eyelevel` alone: five lines, and the first of them that is a command is the next one."""

import os
from pathlib import Path

import pytest

from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE
from eyelevel.cli import main, welcome


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What it says in an empty folder, on a machine with a browser."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(EXECUTABLE_VARIABLE, "/bin/sh")
    monkeypatch.setattr("sys.argv", ["eyelevel"])

    def say() -> list[str]:
        assert main.main() == 0
        return capsys.readouterr().out.splitlines()

    return say


def next_command(lines: list[str]) -> str:
    assert len(lines) == 5 and all(len(line) <= 80 for line in lines)
    (marked,) = (line for line in lines if line.startswith("next: "))
    assert lines[1] == marked
    return marked.removeprefix("next: ").split("  ")[0]


def test_a_machine_without_a_browser_gets_one_first(said, monkeypatch):
    monkeypatch.setenv(EXECUTABLE_VARIABLE, "/nowhere/chromium")
    lines = said()
    assert next_command(lines) == "eyelevel doctor --fix" and "Chromium is missing" in lines[1]


def test_who_has_no_result_yet_gets_the_demo(said, tmp_path):
    assert next_command(said()) == "eyelevel demo"
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "notes.txt").touch()
    assert next_command(said()) == "eyelevel demo"


def test_the_newest_run_is_read_or_goes_on(said, tmp_path):
    for number, name in enumerate(("older", "mine")):
        run = tmp_path / "results" / name
        run.mkdir(parents=True)
        (run / "plan.json").touch()
        os.utime(run / "plan.json", (number, number))
    assert next_command(said()) == "eyelevel status results/mine"
    (tmp_path / "results" / "mine" / "report.html").touch()
    assert next_command(said()) == "eyelevel report results/mine --open"


def test_every_command_that_it_names_is_one():
    named = [welcome.DEMO, welcome.OWN, welcome.DOCTOR, welcome.LACKING]
    assert {command.split()[1] for command, _ in named} <= set(main.SUBCOMMANDS)
