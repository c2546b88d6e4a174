"""What `--help` and errors of use say, of every command in the table."""

import sys
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from eyelevel.cli import main
from eyelevel.cli.usage import list_taken
from scripts.docs.command_pages import command_pages

RAW = (
    "{",
    "<str",
    "<path",
    "<bool",
    "list[",
    " range>",
    "x>=",
    "<=x",
    "╭",
    "[default",
    "[required",
    "Default: `False`",
)
"""What only Typer's own words have."""


def said(words: list[str], monkeypatch, capsys) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
    monkeypatch.setenv("COLUMNS", "80")
    return main.main(), *capsys.readouterr()


def commands() -> Iterator[tuple[str, typer.core.TyperCommand | TyperGroup]]:
    for name in main.SUBCOMMANDS:
        whole = typer.main.get_command(main.app_with(name))
        assert isinstance(whole, TyperGroup)
        yield from below(whole.commands[name], name)


def below(command, name: str) -> Iterator[tuple[str, typer.core.TyperCommand | TyperGroup]]:
    yield name, command
    for inner, each in command.commands.items() if isinstance(command, TyperGroup) else ():
        yield from below(each, f"{name} {inner}")


COMMANDS = dict(commands())


@pytest.mark.parametrize("name", [each for each in COMMANDS if each != "path"])
def test_help_is_in_a_readers_words_and_fits_a_terminal(name: str, monkeypatch, capsys):
    status, shown, error = said([*name.split(), "--help"], monkeypatch, capsys)
    assert (status, error) == (0, "")
    assert max(map(len, shown.splitlines())) <= 80
    assert not [raw for raw in RAW if raw in shown]
    command = COMMANDS[name]
    within = typer.Context(command, info_name=name)
    rows = [
        row for kind in (TyperArgument, TyperOption) for row in list_taken(command, kind, within)
    ]
    page = command_pages()[f"{name.split()[0]}.md"].replace("\\", "")
    for row in rows:
        assert f"\n  {row.name}" in shown
        assert f"| `{row.name}` |" in page
        assert row.meaning in " ".join(shown.split())
    required = [row.name for row in rows if row.meaning.endswith("Required.")]
    usage = " ".join(shown.partition("\n\n")[0].split())
    assert all(each in usage for each in required)


def test_a_switch_has_its_opposite_only_where_it_is_on(monkeypatch, capsys):
    _, shown, _ = said(["probe", "measure", "--help"], monkeypatch, capsys)
    assert "\n  --early-data  " in shown and "--no-early-data" not in shown
    _, shown, _ = said(["scan", "--help"], monkeypatch, capsys)
    assert "\n  --www / --no-www " in shown and "Default: `--www`." in " ".join(shown.split())


@pytest.mark.parametrize("group", ["probe", "explain", "metrics"])
def test_a_group_with_a_command_of_its_own_says_which_others_it_has(
    group: str, monkeypatch, capsys
):
    _, shown, _ = said([group, "--help"], monkeypatch, capsys)
    listed = shown.partition("\nCommands:\n")[2]
    assert all(f"  {name} " in listed for name in COMMANDS[group].commands)


def test_a_group_without_a_word_lists_its_own(monkeypatch, capsys):
    status, shown, error = said(["validate"], monkeypatch, capsys)
    assert (status, shown) == (2, "")
    assert error.startswith("Usage: eyelevel validate [OPTIONS] COMMAND [ARGS]...\n\nMeasure ")
    assert "\nCommands:\n  stacks  Compare bulk transfers" in error


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run", "PLAN is missing; write `eyelevel run [OPTIONS] --out PATH PLAN`, or see --help"),
        ("run x", "--out is missing; write `eyelevel run [OPTIONS] --out PATH PLAN`, or see --h"),
        ("run x --out", "--out needs a value behind it; see `eyelevel run --help`"),
        ("run x --json=1", "--json takes no value; see `eyelevel run --help`"),
        (
            "run --nope x",
            "there is no option --nope; did you mean --open or --peek? See `eyelevel ",
        ),
        ("dem", "unknown command `dem`; did you mean `demo`? See `eyelevel --help`"),
        (
            "validate xyz",
            "unknown command `xyz`; known: stacks, level, live, path; see `eyelevel v",
        ),
        ("load a b c", "`b c` is more than it takes; write `eyelevel load [OPTIONS] SITE`, or see"),
        ("load a --runs x", "--runs: give a whole number; see `eyelevel load --help`"),
        ("load a --runs 0", "--runs: give at least 1; see `eyelevel load --help`"),
        ("load a --runs 1001", "--runs: give at most 1000; see `eyelevel load --help`"),
        ("load a --cpu-slowdown x", "--cpu-slowdown: give a number; see `eyelevel load --help`"),
        (
            "load a --visit no",
            "--visit: `no` is not one of first, repeat, warm, cached; see `eyelevel load",
        ),
        ("list", "KIND is missing: give one of networks, stacks, sites, plans, devices, corpora; "),
        ("list nets", "KIND: `nets` is not one of networks, stacks, sites, plans, devices, corpo"),
        ("site import a --out b --viewport 3", "--viewport: the viewport `3` is not WIDTHxHEIGHT"),
        ("validate level --stacks quic", "--stacks quic: that is 1; give two, as tcp+,quic\n"),
    ],
)
def test_words_that_do_not_fit_are_told_in_one_line(words: str, expected: str, monkeypatch, capsys):
    status, shown, error = said(words.split(), monkeypatch, capsys)
    assert (status, shown) == (2, "")
    assert error.startswith(f"eyelevel: {expected}") and error.count("\n") == 1
