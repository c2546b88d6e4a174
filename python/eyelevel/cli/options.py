"""Options shared by commands that load pages: browser settings, waiting, hosts to allow."""

import inspect
import os
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin

import typer
from annotated_types import Ge, Le
from pydantic import ValidationError

from eyelevel.base.errors import PlanError, reason_of
from eyelevel.base.json_types import JsonMapping
from eyelevel.base.settings import About, about, annotations_of
from eyelevel.lab.confinement import UNSAFE_VARIABLE
from eyelevel.load.quiet_host import WAIT_S_MAX
from eyelevel.plan.browser import Browser

HostWaitOption = Annotated[
    float,
    typer.Option(
        "--host-wait",
        min=0.0,
        max=WAIT_S_MAX,
        envvar="EYELEVEL_HOST_WAIT",
        show_envvar=False,
        help="How many seconds a load waits, at most, while the machine is too busy.",
    ),
]


def _go_without(unsafe: bool) -> bool:
    if unsafe:
        # An environment variable, so that child processes that load pages have it, too.
        os.environ[UNSAFE_VARIABLE] = "1"
    return unsafe


UnsafeBrowserOption = Annotated[
    bool,
    typer.Option(
        "--unsafe-browser",
        callback=_go_without,
        expose_value=False,
        help="If the kernel forbids sandboxes: run browsers without theirs, and external "
        "servers with your rights. Only for your own pages.",
    ),
]

AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="HOST|ADDRESS|RANGE",
        help=(
            "Allow recording from this address although it is not public; a port may follow. "
            "Repeatable."
        ),
    ),
]


def with_browser_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's `Browser` parameter by one option per browser setting.

    Raises `PlanError`, with the option, for a value that the browser does not support.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    place = ""
    for parameter in signature.parameters.values():
        if parameter.annotation is Browser:
            place = parameter.name
            parameters += _parameters()
        else:
            parameters.append(parameter)

    @wraps(command)
    def with_options(**given: object) -> None:
        of_browser = {name: given.pop(name) for name in annotations_of(Browser)}
        command(**given, **{place: _browser_of(of_browser)})

    setattr(with_options, "__signature__", signature.replace(parameters=parameters))  # noqa: B010
    return with_options


def _parameters() -> list[inspect.Parameter]:
    words = about(Browser)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(field.default, words[field.name]),
            annotation=_option(field.name, field.default, words[field.name]),
        )
        for field in fields(Browser)
    ]


def _flag(name: str, about: About) -> str:
    return about.flag or f"--{name.replace('_', '-')}"


def _default(value: object, about: About) -> object:
    if value == ():
        return "" if about.separator else None
    return value


def _option(name: str, default: object, about: About) -> object:
    """Return a setting's option.

    Values that the command line cannot check are text, validated like a plan's.
    """
    flag, help_text = _flag(name, about), f"{about.text[0].upper()}{about.text[1:]}."
    kind, bounds = _kind(annotations_of(Browser)[name])
    if kind is bool:
        flags = (f"{flag}/--no-{flag[2:]}",) if default else (flag,)
        return Annotated[bool, typer.Option(*flags, help=help_text)]
    if get_origin(kind) is tuple and not about.separator:
        return Annotated[list[str] | None, typer.Option(flag, help=f"{help_text} Repeatable.")]
    if get_origin(kind) is Literal:
        return Annotated[kind, typer.Option(flag, help=help_text)]
    if kind is float and bounds:
        low, high = bounds
        return Annotated[float | None, typer.Option(flag, min=low, max=high, help=help_text)]
    return Annotated[str | None, typer.Option(flag, help=help_text)]


def _kind(annotation: object) -> tuple[object, tuple[float, float] | None]:
    """Return the type without metadata and None, and its (minimum, maximum) if it has both."""
    low = high = None
    while get_origin(annotation) in (Annotated, Union, UnionType):
        for metadata in getattr(annotation, "__metadata__", ()):
            low = metadata.ge if isinstance(metadata, Ge) else low
            high = metadata.le if isinstance(metadata, Le) else high
        annotation = get_args(annotation)[0]
    if isinstance(low, int | float) and isinstance(high, int | float):
        return annotation, (low, high)
    return annotation, None


def _browser_of(given: JsonMapping) -> Browser:
    words = about(Browser)
    values = {}
    for name, value in given.items():
        if (separator := words[name].separator) and value is not None:
            value = [word for each in value.split(separator) if (word := each.strip())]
        if value is not None:
            values[name] = value
    try:
        browser = Browser.read(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise PlanError([f"{_flag(name, words[name])}: {reason_of(first)}"]) from error
    if refused := browser.refusal():
        raise PlanError([refused[1]])
    return browser
