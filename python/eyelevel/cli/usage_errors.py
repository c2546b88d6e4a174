"""Reword typer's usage errors as one line, with how the command is called.

What an error is about is in its attributes, which click documents, and in the type and bounds of
pydantic's error; their texts are never parsed. Two errors have only a text: commands prepared by
`with_own_errors` raise errors of ours instead.
"""

from collections.abc import Iterable
from enum import Enum

import typer
from typer import Context
from typer.core import TyperGroup, TyperOption

from eyelevel.base.errors import ExpectedError, reason_of, unknown
from eyelevel.cli.usage import Command, usage

_NUMBERS = {"int": "give a whole number", "float": "give a number"}
"""Remedies by the prefix of the type of pydantic's errors about numbers."""
_BOUNDS = {"ge": "give at least {:.15g}", "le": "give at most {:.15g}"}
"""Remedies by the name of the bound in pydantic's errors."""


def describe_misuse(error: typer.TyperException) -> str:
    """Return typer's error about a command line as one line in plain words."""
    within: Context | None = getattr(error, "ctx", None)
    if isinstance(error, typer.BadParameter):
        return _describe_value(error, within)
    option: str | None = getattr(error, "option_name", None)
    if option is None:
        return error.message
    if not hasattr(error, "possibilities"):
        takes = "takes no value" if _is_flag(option, within) else "needs a value behind it"
        return _with_help(f"{option} {takes}", within)
    alike = " or ".join(sorted(error.possibilities or ()))
    return _with_help(
        f"there is no option {option}{f'; did you mean {alike}?' if alike else ''}", within
    )


def with_own_errors(command: Command) -> Command:
    """Make a command and its subcommands raise our errors for unknown commands and extra words.

    Typer's errors get a reference to the command that they are about.
    """

    def parse(within: Context, words: list[str]) -> list[str]:
        may_have_more, within.allow_extra_args = within.allow_extra_args, True
        try:
            left: list[str] = type(command).parse_args(command, within, words)
        except typer.TyperException as error:
            vars(error)["ctx"] = getattr(error, "ctx", None) or within
            raise
        within.allow_extra_args = may_have_more
        if left and not may_have_more:
            raise ExpectedError(_with_usage(f"`{' '.join(left)}` is more than it takes", within))
        return left

    def get_command(within: Context, name: str) -> Command:
        found = type(command).get_command(command, within, name)
        if found is None and not name.startswith("-"):
            raise ExpectedError(_with_help(unknown("command", name, command.commands), within))
        return found

    for name, function in {"parse_args": parse, "get_command": get_command}.items():
        setattr(command, name, function)
    for inner in command.commands.values() if isinstance(command, TyperGroup) else ():
        with_own_errors(inner)
    return command


def _describe_value(error: typer.BadParameter, within: Context | None) -> str:
    parameter = error.param
    if parameter is None:  # a command's own errors about values have a remedy
        return f"{error.param_hint}: {error.message}" if error.param_hint else error.message
    is_option = parameter.param_type_name == "option"
    name = parameter.opts[0] if is_option else parameter.display_name_raw.upper()
    choices = [
        str(each.value if isinstance(each, Enum) else each)
        for each in parameter.type_descriptor.choices or ()
    ]
    if hasattr(error, "param_type"):  # only MissingParameter has it
        listed = f": give one of {', '.join(choices)}" if choices else ""
        return _with_usage(f"{name} is missing{listed}", within)
    return _with_help(f"{name}: {_reason(error, choices)}", within)


def _reason(error: typer.BadParameter, choices: Iterable[str]) -> str:
    from pydantic import ValidationError  # only needed for usage errors

    if not isinstance(error.__cause__, ValidationError):
        return error.message
    first = error.__cause__.errors()[0]
    if choices:
        return f"`{first['input']}` is not one of {', '.join(choices)}"
    for name, bound in first.get("ctx", {}).items():
        if name in _BOUNDS:
            return _BOUNDS[name].format(bound)
    return _NUMBERS.get(first["type"].partition("_")[0], reason_of(first))


def _is_flag(option: str, within: Context | None) -> bool:
    parameters = within.command.params if within else []
    options = (each for each in parameters if isinstance(each, TyperOption))
    return any(
        each.is_flag or each.count
        for each in options
        if option in (*each.opts, *each.secondary_opts)
    )


def _with_usage(what: str, within: Context | None) -> str:
    if within is None:
        return _with_help(what, within)
    return f"{what}; write `{within.command_path} {usage(within.command, within)}`, or see --help"


def _with_help(what: str, within: Context | None) -> str:
    path = within.command_path if within else "eyelevel"
    return f"{what}{' See' if what.endswith('?') else '; see'} `{path} --help`"
