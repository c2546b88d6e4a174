"""Options of commands that load pages: what the page is shown in, how long a load waits."""

from collections.abc import Sequence
from typing import Annotated, Any, get_args

import typer
from pydantic import TypeAdapter, ValidationError

from eyelevel.errors import PlanError, unknown
from eyelevel.plan.browser_settings import (
    CPU_SLOWDOWN_MAX,
    BrowserName,
    BrowserSettings,
    ColorScheme,
    LogKind,
    browser_settings,
)
from eyelevel.plan.connection_type import ConnectionTypeSetting
from eyelevel.plan.devices import DEVICES_BY_NAME
from eyelevel.plan.file.model import HostName, StepText
from eyelevel.plan.stacks import Visit, Visitor
from eyelevel.run.trial.quiet_host import WAIT_S_MAX

HostWaitOption = Annotated[
    float,
    typer.Option(
        "--host-wait",
        min=0.0,
        max=WAIT_S_MAX,
        envvar="EYELEVEL_HOST_WAIT",
        show_envvar=False,
        help="Seconds that a load waits at most while the machine is too busy for any.",
    ),
]


BrowserOption = Annotated[
    BrowserName,
    typer.Option(help="`firefox`: Firefox ESR; what it cannot: docs/guides/browser.md."),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(help="Pose as a device: see `eyelevel list devices`. Else as recorded."),
]
SlowdownOption = Annotated[
    float | None,
    typer.Option(min=1, max=CPU_SLOWDOWN_MAX, help="Times slower scripts run; else the device's."),
]
SchemeOption = Annotated[
    ColorScheme, typer.Option(help="What the page is told that its user prefers.")
]
JavascriptOption = Annotated[
    bool, typer.Option("--javascript/--no-javascript", help="Whether the page's scripts run.")
]
VisitorOption = Annotated[
    Visitor,
    typer.Option(help="`known`: the browser knows of every host what it speaks, and no more."),
]
ConnectionTypeOption = Annotated[
    ConnectionTypeSetting,
    typer.Option(
        "--effective-connection-type",
        help="What Chromium takes the network for; `network`: by its round trip; `measured`: what "
        "the browser estimates, on each stack its own.",
    ),
]
BlockOption = Annotated[
    list[str] | None,
    typer.Option(help="A host whose objects are not asked for; `*.HOST`: all below. Repeatable."),
]


AfterLoadOption = Annotated[
    list[str] | None,
    typer.Option(
        help="A step after the load, measured on its own: `scroll end`, `scroll 800`, "
        "`click SELECTOR`, `script JAVASCRIPT`. Repeatable."
    ),
]

LogsOption = Annotated[
    str,
    typer.Option(
        help="With --out: keep logs of each load for `eyelevel explain` and other tools: some of "
        "`qlog,pcap,tcp-info`; pcap with the TLS keys."
    ),
]


NetlogOption = Annotated[
    bool, typer.Option("--netlog", help="With --out: netlog.json.gz beside each record.")
]
TraceOption = Annotated[
    bool, typer.Option("--trace", help="With --out: trace.json.gz beside each record.")
]


def browser_of_options(
    *,
    browser: BrowserName,
    visit: Visit,
    visitor: Visitor,
    effective_connection_type: ConnectionTypeSetting,
    device: str | None,
    cpu_slowdown: float | None,
    color_scheme: ColorScheme,
    javascript: bool,
    block: Sequence[str],
    after_load: Sequence[str],
    netlog: bool,
    trace: bool,
    logs: str,
) -> BrowserSettings:
    """The settings of a plan's `browser`; raises PlanError for a device or host that is none."""
    if device is not None and device not in DEVICES_BY_NAME:
        raise PlanError([f"--device: {unknown('device', device, DEVICES_BY_NAME)}"])
    kinds = tuple(dict.fromkeys(filter(None, (kind.strip() for kind in logs.split(",")))))
    for kind in kinds:
        if kind not in get_args(LogKind):
            raise PlanError([f"--logs: {unknown('log', kind, get_args(LogKind))}"])
    for option, kind, words in (("block", HostName, block), ("after-load", StepText, after_load)):
        for word in words:
            _check(option, kind, word)
    found = browser_settings(
        browser=browser,
        device=DEVICES_BY_NAME[device] if device else None,
        cpu_slowdown=cpu_slowdown,
        visit=visit,
        visitor=visitor,
        effective_connection_type=effective_connection_type,
        color_scheme=color_scheme,
        javascript=javascript,
        blocked_hosts=tuple(block),
        after_load=tuple(after_load),
        netlog=netlog,
        trace=trace,
        logs=kinds,
    )
    if refused := found.refusal():
        raise PlanError([refused[1]])
    return found


def _check(option: str, kind: Any, word: str) -> None:
    try:
        TypeAdapter(kind).validate_python(word)
    except ValidationError as error:
        said = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise PlanError([f"--{option}: {said}"]) from error
