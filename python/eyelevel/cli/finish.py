"""End a long command by printing the path of its result, which `--open` opens.

Build the command line that resumes an interrupted command.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import ExpectedError, WriteError
from eyelevel.cli.output import hints, results, say

OpenOption = Annotated[
    bool, typer.Option("--open", help="Open the result in a browser when it is ready.")
]

PageOption = Annotated[Path | None, typer.Option(help="Write an offline page to this file.")]


def check_opens(opens: bool, place: object, what: str, option: str) -> None:
    """Raise `ExpectedError` if a result is to be opened that will not be written."""
    if opens and not place:
        raise ExpectedError(f"--open opens the {what}; say where it goes with {option}")


DISPLAYS = ("WAYLAND_DISPLAY", "DISPLAY")
REFUSED_WITHIN_S = 3.0
"""Time limit for a program to report that it cannot open a file; a browser may run for hours."""


@contextmanager
def ending_at(
    what: str, place: Path | None, *, opens: bool = False, as_json: bool = False
) -> Iterator[None]:
    """Print the path of the result as the last line, whichever verdict the block exits with.

    Nothing is printed if `place` is None, or if writing it was refused.
    """
    written = place
    try:
        yield
    except WriteError as error:
        written = place if error.place != place else None
        raise
    finally:
        if written is not None:
            end_at(what, written, opens=opens, as_json=as_json)


def end_at(what: str, place: Path, *, opens: bool = False, as_json: bool = False) -> None:
    """Print the last line of a command, `report: results/mine/report.html`; open it if requested.

    `as_json`: print to standard error, since standard output has JSON.
    """
    say(hints if as_json else results, f"{what}: {place}")
    if opens:
        _open(place)


def _open(place: Path) -> None:
    """Open it, or print why that is impossible and what to do instead."""
    address = place.resolve().as_uri()
    if not sys.stderr.isatty():
        say(hints, f"--open: nobody sits at this terminal, so nothing is opened; see {address}")
        return
    command = _opener(address)
    if command is None:
        say(hints, f"--open: no display and no $BROWSER here; open {address}, or copy it to a desk")
        return
    try:
        started = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        status = started.wait(REFUSED_WITHIN_S)
        why = f"exit status {status}" if status else ""
    except subprocess.TimeoutExpired:  # a browser that keeps running
        return
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        say(hints, f"--open: {command[0]} could not open it ({why}); open {address} yourself")


def _opener(address: str) -> list[str] | None:
    """Return the command that opens an address for the current user; None if there is none.

    $BROWSER is a colon-separated list of commands, in which `%s` stands for the address.
    """
    for wanted in filter(None, os.environ.get("BROWSER", "").split(os.pathsep)):
        words = shlex.split(wanted)
        if words and shutil.which(words[0]):
            named = [word.replace("%s", address) for word in words]
            return named if named != words else [*words, address]
    if any(os.environ.get(name) for name in DISPLAYS) and (opener := shutil.which("xdg-open")):
        return [opener, address]
    return None


RESUME = "--resume"


def resume_command(context: typer.Context) -> str:
    """Return the command line that resumes: all arguments and options as given, and `--resume`."""
    words = ["eyelevel", str(context.info_name)]
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        is_given = source is not None and source.name == "COMMANDLINE"
        if parameter.param_type_name == "argument":
            words.append(str(context.params[name]))
        elif RESUME in parameter.opts:
            words.append(RESUME)
        elif is_given:
            # Only flags may have no value in `params`.
            words += _words_of(
                parameter.opts, parameter.secondary_opts, context.params.get(name, True)
            )
    return shlex.join(words)


def _words_of(flags: Sequence[str], opposites: Sequence[str], value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield max(flags if value else opposites, key=len)
        return
    for each in value if isinstance(value, list | tuple) else [value]:
        yield from (max(flags, key=len), str(each))
