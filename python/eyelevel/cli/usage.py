"""Format a command's usage, the same in `--help`, in errors and in the docs."""

import re
import textwrap
from typing import Any, NamedTuple

from rich.text import Text
from typer import Context
from typer.core import TyperArgument, TyperGroup, TyperOption

from eyelevel.cli.output import results

Command = Any
"""Typer's commands and groups, whose common base class is private."""

WIDTH_MAX = 100
"""Maximum width: longer lines are hard to read."""
NAME_WIDTH_MAX = 24
"""Maximum width of a name with its meaning on the same line; wider ones have it below."""
INDENT = 2

_KINDS = {
    "str": "TEXT",
    "path": "PATH",
    "Path": "PATH",
    "int": "NUMBER",
    "int range": "NUMBER",
    "float": "NUMBER",
    "float range": "NUMBER",
}
"""Readable names of parameter types."""
_FACTS = (
    (r"default: ([\d.]+)", "Default: {}."),
    (r"default: (.*)", "Default: `{}`."),
    (r"(.*)<=x<=(.*)", "From {} to {}."),
    (r"x>=(.*)", "At least {}."),
    (r"x<=(.*)", "At most {}."),
)
"""Text for typer's notes on defaults and ranges."""


class Taken(NamedTuple):
    """An argument or option, such as `--out PATH`, and its meaning."""

    name: str
    meaning: str


HELP = Taken("-h, --help", "Show this message and exit.")
"""The help option of every command, which pages of single commands do not list."""


def usage(command: Command, within: Context) -> str:
    """Return how a command is called: `[OPTIONS] --out PATH PLAN`."""
    return " ".join(_pieces(command, within))


def summary(command: Command) -> str:
    """Return the first paragraph of a command's help."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


def list_taken(
    command: Command, kind: type[TyperArgument | TyperOption], within: Context
) -> list[Taken]:
    """Return a command's arguments or options, in order of declaration."""
    records = (each.get_help_record(within) for each in command.params if isinstance(each, kind))
    return [_describe_taken(kind, *record) for record in records if record]


def readable(command: Command) -> Command:
    """Make a command and its subcommands format help and errors by this module."""
    messages = {
        "format_help": lambda within, formatter: formatter.write(_help(command, within)),
        "collect_usage_pieces": lambda within: _pieces(command, within),
    }
    for name, function in messages.items():
        setattr(command, name, function)
    for inner in command.commands.values() if isinstance(command, TyperGroup) else ():
        readable(inner)
    return command


def _pieces(command: Command, within: Context) -> list[str]:
    # Call the class's: the instance's may be this function.
    options, *arguments = type(command).collect_usage_pieces(command, within)
    needed = [
        _describe_taken(TyperOption, *record).name
        for each in command.params
        if isinstance(each, TyperOption) and each.required
        if (record := each.get_help_record(within))
    ]
    return [options, *needed, *map(_placeholder, arguments)]


def _placeholder(piece: str) -> str:
    """Return a piece of the usage as in manuals: `PLAN` where typer has `{plan}`."""
    found = re.fullmatch(r"(\[?)\{?([\w|]+?)(\.\.\.)?[\]}]?(\.\.\.)?", piece)
    if found is None:
        return piece
    opening, word, *dots = found.groups()
    closing = "]" if opening else ""
    return f"{opening}{word.upper()}{'...' if any(dots) else ''}{closing}"


def _describe_taken(kind: type, spelt: str, help: str) -> Taken:
    """Describe one parameter: its type as one word, and typer's bracketed notes as sentences."""
    name, _, given = spelt.partition(" <")
    is_list, given = given.startswith("list["), given.removesuffix(">")
    given = given.removeprefix("list[").removesuffix("]") if is_list else given
    if kind is TyperArgument:
        name = _placeholder(f"{name}..." if is_list and not name.endswith("...") else name)
    elif given:
        name += f" {_KINDS.get(given, given)}"
    meaning, _, facts = help.partition("  [")
    details = facts.removesuffix("]").split("; ") if facts else []
    if " / --" in spelt:  # the two names of a boolean flag
        name, off = name.split(" / ")
        if "default: " + off.removeprefix("--") in details:
            details = []
        else:
            name, details = f"{name} / {off}", [each.replace(": ", ": --") for each in details]
    sentences = [" ".join(meaning.split())] if meaning else []
    if is_list and kind is TyperOption and "epeatable" not in meaning:
        sentences.append("Repeatable.")
    sentences += map(_fact, details)
    return Taken(name, " ".join(sentences))


def _fact(text: str) -> str:
    """Return `required`, `default: 1`, `x>=1`, `x<=9` or `0<=x<=3` as a sentence."""
    text = re.sub(r"(?<=\d)\.0\b", "", text)
    for pattern, sentence in _FACTS:
        if found := re.fullmatch(pattern, text):
            return sentence.format(*found.groups())
    return f"{text.capitalize()}."


def _help(command: Command, within: Context) -> str:
    """Return the complete help, at the width of the terminal."""
    width = min(results.width, WIDTH_MAX)
    text = Text()
    called = f"{within.command_path} {usage(command, within)}"
    behind = " " * len("Usage: ")
    text.append("Usage: ", "bold")
    text.append(textwrap.fill(called, width - len(behind)).replace("\n", f"\n{behind}") + "\n")
    for paragraph in (command.help or "").split("\n\n"):
        text.append("\n").append(textwrap.fill(" ".join(paragraph.split()), width) + "\n")
    listed = {
        "Arguments": list_taken(command, TyperArgument, within),
        "Options": [*list_taken(command, TyperOption, within), HELP],
    }
    for title, rows in listed.items():
        if rows:
            text.append(f"\n{title}:\n", "bold")
            _append(text, rows, width)
    groups = _commands(command)
    begin = _begin_of([row for rows in groups.values() for row in rows])
    for title, rows in groups.items():
        text.append(f"\n{title}:\n", "bold")
        _append(text, rows, width, begin)
    results.begin_capture()
    results.print(text, soft_wrap=True, end="")
    return results.end_capture().rstrip("\n")


def _commands(group: Command) -> dict[str, list[Taken]]:
    """Return subcommands by the title of their group, in order of declaration."""
    found: dict[str, list[Taken]] = {}
    for name, each in group.commands.items() if isinstance(group, TyperGroup) else ():
        if not each.hidden:
            title = getattr(each, "rich_help_panel", None)
            title = title if isinstance(title, str) else "Commands"
            found.setdefault(title, []).append(Taken(name, summary(each)))
    return found


def _begin_of(rows: list[Taken]) -> int:
    """Return the column in which meanings begin."""
    lengths = [len(row.name) for row in rows if len(row.name) <= NAME_WIDTH_MAX]
    return INDENT + max(lengths, default=0) + 2


def _append(text: Text, rows: list[Taken], width: int, begin: int = 0) -> None:
    begin = begin or _begin_of(rows)
    for name, meaning in rows:
        lines = textwrap.wrap(meaning, width - begin, break_on_hyphens=False) or [""]
        text.append(" " * INDENT).append(name, "cyan")
        if len(name) > NAME_WIDTH_MAX:
            text.append("\n" + " " * begin)
        else:
            text.append(" " * (begin - INDENT - len(name)))
        text.append(("\n" + " " * begin).join(lines) + "\n")
