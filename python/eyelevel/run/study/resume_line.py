"""Build the command line that resumes a run from its status, with each part checked here.

A run's directory may be untrusted, and users type the line that `to load the rest: ...` shows. So
nothing of the directory's own line is printed unless it is one of these parts: a preset's name or a
plan file with this very plan, the directory in question, and options that grant nothing.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.presets import PRESETS_BY_NAME

_FLAGS = (
    "--resume",
    "--peek",
    "--har",
    "--video",
    "--filmstrip",
    "--allow-heterogeneous",
    "--open",
    "--json",
)
_NUMBERS = ("--jobs", "--retries", "--host-wait")
_DIGITS_MAX = 9


def resume_line(said: str, directory: Path, plan: JsonMapping) -> str:
    """Return the line to type, or "" if `said` has a part that cannot be checked.

    `said` is the directory's own line, `plan` its `plan.json`.
    """
    try:
        program, command, *words = shlex.split(said)
    except ValueError:  # too few words, or an unclosed quote
        return ""
    if program != "eyelevel" or command not in ("run", "demo"):
        return ""
    if any(stack["external_server"] for stack in plan["stacks"]):
        return ""  # an external program: only the user may name it
    checked = ["eyelevel", command]
    if command == "run":
        if not words or not _is_plan(words[0], str(plan["source"])):
            return ""
        checked.append(words.pop(0))
    try:
        checked += _options(iter(words), directory)
    except (ValueError, StopIteration, RuntimeError):
        return ""
    return shlex.join(checked)


def _is_plan(name: str, source: str) -> bool:
    if name in PRESETS_BY_NAME:
        return True
    if name.startswith("-"):
        return False
    try:
        return read_text(Path(name), Source(name, PLAN, plan_error)) == source
    except (ExpectedError, OSError, ValueError):
        return False


def _options(words: Iterator[str], directory: Path) -> list[str]:
    checked: list[str] = []
    for word in words:
        checked.append(word)
        if word in _FLAGS:
            continue
        value = next(words)
        if word == "--out" and Path(value).resolve() == directory.resolve():
            checked.append(str(directory))
        elif word in _NUMBERS and _is_number(value):
            checked.append(value)
        else:
            raise ValueError(word)
    return checked


def _is_number(word: str) -> bool:
    return word.isascii() and word.replace(".", "", 1).isdigit() and len(word) <= _DIGITS_MAX
