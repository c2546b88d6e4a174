"""The reference pages of the command: made from the same declarations that `--help` prints."""

import re
from collections.abc import Iterator
from importlib import import_module

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from eyelevel.cli.main import SUBCOMMANDS
from eyelevel.cli.usage import list_taken, summary, usage

INTRODUCTION = """\
# The command line

These pages are made from the command's own declarations, and say the same as `eyelevel COMMAND
--help`. The exit status is 0 for success, 1 for a finding (a gate that failed, a page that is not
fit), 2 if the command could not do its work, 3 and 4 if a gate is inconclusive or has no verdict,
75 if the same command may work later, and 130 after Ctrl-C.

| command | what it does |
| --- | --- |
"""


def command_pages() -> dict[str, str]:
    """The text of each page by its name: `index.md`, `run.md`, ..."""
    rows, pages = [], {}
    for name, command in _commands():
        pages[f"{name}.md"] = "\n".join(_section(command, f"eyelevel {name}", depth=1))
        rows.append(f"| [`{name}`]({name}.md) | {_cell(_prose(summary(command)))} |")
    return {"index.md": INTRODUCTION + "\n".join(rows) + "\n"} | pages


def _commands() -> Iterator[tuple[str, TyperCommand]]:
    whole = typer.Typer(add_completion=False)
    for name, place in SUBCOMMANDS.items():
        module = import_module(f"eyelevel.cli.{place}")
        if group := getattr(module, "app", None):
            whole.add_typer(group, name=name)
        else:
            whole.command(name)(getattr(module, place.rpartition(".")[2]))
    made = typer.main.get_command(whole)
    assert isinstance(made, TyperGroup)
    return iter(made.commands.items())


def _section(command: TyperCommand, name: str, depth: int) -> Iterator[str]:
    """A command's usage, what it says of itself, its parameters; its subcommands below."""
    yield from (f"{'#' * depth} {name}", "")
    within = typer.Context(command, info_name=name)
    called = f"{name} {usage(command, within)}"
    yield from ("```text", called, "```", "", _prose(command.help or ""), "")
    for kind, title in ((TyperArgument, "argument"), (TyperOption, "option")):
        if rows := list_taken(command, kind, within):
            yield from (f"| {title} | meaning |", "| --- | --- |")
            yield from (f"| `{_cell(row.name)}` | {_cell(_prose(row.meaning))} |" for row in rows)
            yield ""
    subcommands = command.commands if isinstance(command, TyperGroup) else {}
    for inner, each in subcommands.items():
        yield from _section(each, f"{name} {inner}", depth + 1)


def _prose(text: str) -> str:
    """Outside of its code what looks like a tag or a mark is text, and an option is code."""
    parts = re.sub(r"(`[^`]*`)|(?<![\w-])(--[a-z][\w-]*)", _option, text).split("`")
    parts[::2] = [re.sub(r"([<*\[\]$])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _option(found: re.Match[str]) -> str:
    return found[1] or f"`{found[2]}`"


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
