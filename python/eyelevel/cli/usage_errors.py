"""Reword typer's usage errors: one line, with how the command is called."""

import re
from collections.abc import Callable, Iterable

from typer import Context
from typer.core import TyperGroup

from eyelevel.cli.usage import usage
from eyelevel.errors import unknown

_NUMBERS = (
    (r"Input should be a valid integer.*", "give a whole number"),
    (r"Input should be a valid number.*", "give a number"),
    (r"Input should be greater than or equal to (.*)", "give at least {}"),
    (r"Input should be less than or equal to (.*)", "give at most {}"),
    (r"'(.*)' is not one of (.*)\.", "`{}` is not one of {}"),
)
"""The patterns of typer's and pydantic's messages on values, with shorter words."""


def misuse(message: str, within: Context | None) -> str:
    """Return typer's message about a command line as one line in plain words.

    `within`: the command that it was meant for, if that is known.
    """
    path = within.command_path if within else "eyelevel"
    for pattern, said, is_of_form in _SAID:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            what = said(within, *found.groups())
            if is_of_form and within:
                return f"{what}; write `{path} {usage(within.command, within)}`, or see --help"
            return f"{what}{' See' if what.endswith('?') else '; see'} `{path} --help`"
    # What a command says of its own values has its way out.
    return re.sub(r"^Invalid value(?: for ([^:]*))?: ", r"\1: ", message).removeprefix(": ")


def _name(word: str) -> str:
    return word if word.startswith("-") else word.upper()


def _missing(_: Context | None, name: str, choices: str) -> str:
    listed = ", ".join(re.findall(r"[\w.-]+", choices.partition(":")[2]))
    return f"{_name(name)} is missing{f': give one of {listed}' if listed else ''}"


def _value(_: Context | None, name: str, why: str) -> str:
    for pattern, said in _NUMBERS:
        if found := re.fullmatch(pattern, why, re.DOTALL):
            why = said.format(*(group.replace("'", "") for group in found.groups()))
            break
    return f"{_name(name)}: {why}"


def _no_option(_: Context | None, name: str, alike: str | None) -> str:
    meant = f"; did you mean {alike.replace(', ', ' or ')}?" if alike else ""
    return f"there is no option {name}{meant}"


def _no_command(within: Context | None, name: str) -> str:
    known: Iterable[str] = ()
    if within is not None and isinstance(within.command, TyperGroup):
        known = within.command.commands
    return unknown("command", name, known)


def _extra(_: Context | None, words: str) -> str:
    return f"`{words}` is more than it takes"


def _no_value(_: Context | None, name: str) -> str:
    return f"{name} needs a value behind it"


_SAID: tuple[tuple[str, Callable[..., str], bool], ...] = (
    (r"Missing (?:argument|option) '([^']*)'\.(.*)", _missing, True),
    (r"Got unexpected extra argument\(s\) \((.*)\)", _extra, True),
    (r"Option '([^']*)' requires an argument\.", _no_value, False),
    (r"No such option: (\S+)(?: \(Possible options: (.*)\))?", _no_option, False),
    (r"No such command '([^']*)'\..*", _no_command, False),
    (r"Invalid value for '([^']*)': (.*)", _value, False),
)
"""The patterns of typer's messages, their rewording, and whether to add the usage."""
