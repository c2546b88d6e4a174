"""Generate `words.json`: each command with its options, and the values that options take.

Enumerated values and files follow from an option's declaration; `NAMES` lists the options that take
names of presets, sites or metrics.
"""

import json
import re
import subprocess
import types
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperGroup

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.json_types import JsonObject
from eyelevel.cli import main
from eyelevel.lab.binary import find_binary
from eyelevel.plan.browser import DEVICES_BY_NAME
from eyelevel.plan.networks.presets import GROUPS
from eyelevel.plan.presets import PRESETS
from eyelevel.plan.stack_presets import STACKS
from eyelevel.sites.corpora.synthetic import SYNTHETIC_CORPORA
from eyelevel.sites.recorded import list_shipped

FILE = Path(__file__).with_name("words.json")
GRID = "das"
"""A group of a hundred networks that is not listed."""

NAMES: dict[str, str] = {
    "base": "stacks",
    "control_stack": "stacks",
    "corpus": "corpora",
    "explain stacks names": "stacks",
    "load device": "devices",
    "metric": "metrics",
    "network": "networks",
    "networks": "networks,",
    "plan": "plans",
    "probe measure stack": "stacks,",
    "report against": "stacks",
    "site": "sites",
    "site check file": "sites",
    "site export file": "sites",
    "site info file": "sites",
    "stack": "stacks",
    "stacks": "stacks,",
    "validate live device": "devices",
}
"""Tables of names by parameter, if necessary with its command; a comma marks a comma-separated
list.
"""

DEFAULTS = {"probe": "measure", "explain": "trial", "metrics": "run"}
"""Default subcommand of groups whose first word may be an argument instead."""

FILES = "files"
"""Marks values that the shell itself completes."""
METAVARS = {"FILE": FILES, "FOLDER": FILES, "DIR": FILES, "PRESET": "networks"}
"""Kind of value by metavar, for options that the data plane declares and for text options of
ours.
"""


def words() -> JsonObject:
    """Return the content of the file as JSON."""
    return {"names": _names(), "commands": _commands()}


def text() -> str:
    """Return the content of the file as text, one option per line to avoid merge conflicts."""
    return json.dumps(words(), indent=1, ensure_ascii=False) + "\n"


def _names() -> dict[str, list[str]]:
    networks = (each.name for group in GROUPS if group.name != GRID for each in group.networks)
    return {
        "corpora": [each.name for each in SYNTHETIC_CORPORA],
        "devices": list(DEVICES_BY_NAME),
        "metrics": list(METRICS_BY_NAME),
        "networks": list(dict.fromkeys(networks)),
        "plans": [each.name for each in PRESETS],
        "sites": list(list_shipped()),
        "stacks": [stack.name for stack in STACKS],
    }


def _commands() -> dict[str, JsonObject]:
    found = {}
    for name in main.SUBCOMMANDS:
        whole: Any = typer.main.get_command(main.app_with(name))
        found[name] = _command(whole.commands[name], name)
    found["path"] |= _shell_of_path()
    return found


def _command(command: Any, path: str) -> JsonObject:
    """Return a command's help, arguments and options with their values, and a group's commands."""
    if isinstance(command, TyperGroup):
        inner = {name: _command(each, f"{path} {name}") for name, each in command.commands.items()}
        group: JsonObject = {"help": _short(command.help), "commands": inner}
        return group | ({"default": DEFAULTS[path]} if path in DEFAULTS else {})
    options: dict[str, list[str | None]] = {}
    arguments: list[str] = []
    for each in command.params:
        takes = _takes(each, path)
        if each.param_type_name == "argument":
            arguments.append(f"{takes}..." if each.nargs < 0 else takes)
        elif not each.hidden:
            for flag in (*each.opts, *each.secondary_opts):
                options[flag] = [None if each.is_flag else takes, _short(each.help)]
    return {"help": _short(command.help), "arguments": arguments, "options": options}


def _takes(parameter: Any, path: str) -> str:
    """Return a parameter's values: a kind of name, words separated by bars, `files`, or ""."""
    name = parameter.name
    if known := NAMES.get(f"{path} {name}") or NAMES.get(name):
        return known
    kind = parameter.type_descriptor.annotation
    while get_origin(kind) in (Annotated, Union, types.UnionType, list):
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return "|".join(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(each.value) for each in kind)
    return FILES if kind is Path else METAVARS.get(parameter.metavar or "", "")


def _short(text: str | None) -> str:
    return " ".join((text or "").partition("\n\n")[0].split())


def _shell_of_path() -> JsonObject:
    """Return the options and the command of the data plane's own shell, from its help."""
    command = [find_binary(), "shell", "--help"]
    help_text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    help_text = re.sub(r"\n {20,}(?=\S)", " ", help_text)  # join continuation lines
    pattern = re.compile(r"^ +(?:-\w, )?(--[\w-]+)(?: <(\w+)>)? +(.*)$", re.MULTILINE)
    options = {
        flag: [METAVARS.get(metavar, "") if metavar else None, description]
        for flag, metavar, description in pattern.findall(help_text)
        if flag != "--help"  # common to all commands
    }
    return {"options": options, "arguments": [f"{FILES}..."]}
