"""Load a page from its real servers (`eyelevel load URL --live`)."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import PlanError
from eyelevel.cli.output import hints
from eyelevel.cli.values import EXAMPLE, is_page_url
from eyelevel.load.quiet_host import HostWait
from eyelevel.load.trial import TrialResult
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import browser_for
from eyelevel.plan.networks.compose import NetworkWords
from eyelevel.plan.stacks import Stack
from eyelevel.plan.trials import Trial
from eyelevel.run.live.load import LivePage, run_live_trial
from eyelevel.run.live.trials import live_site, live_trials

LiveAllowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="ADDRESS|RANGE",
        help="Let a live load reach this address although it is not public. Repeatable.",
    ),
]
UpstreamCaOption = Annotated[
    Path | None,
    typer.Option(
        "--upstream-ca",
        help="With a live load: certificates (PEM) to trust besides the browser's own.",
    ),
]
NOT_LIVE = (*(field.name for field in fields(NetworkWords)), "url", "cross_traffic", "origin_rtt")
"""Options that belong to an emulated network or a recording."""


def check_no_emulation(context: typer.Context) -> None:
    """Raise `PlanError` for options that a live load does not have."""
    for name in NOT_LIVE:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = f"--{name.replace('_', '-')}"
            raise PlanError(
                [f"{flag}: a live load uses the real network and page; leave this option out"]
            )


def refuse_live(allow: Sequence[str] | None, upstream_ca: Path | None) -> None:
    """Raise `PlanError` for options that only a live load has."""
    for flag, value in (("--allow", allow), ("--upstream-ca", upstream_ca)):
        if value:
            raise PlanError([f"{flag}: a replay reaches only its lab; use this option with --live"])


def check_live(url: str, stack: Stack, settings: Browser) -> None:
    """Raise `PlanError` for stacks or settings that a live load does not support."""
    if not is_page_url(url):
        raise PlanError([f"`{url}` is not a page's URL; write it as `{EXAMPLE}`"])
    if not stack.is_ours:
        raise PlanError(
            [f"--stack {stack.name}: a live page is served by its own servers; name one of ours"]
        )
    if refused := settings.find_refused_stack(stack):
        raise PlanError([f"--stack {refused}"])
    if browser_for(settings, stack).is_again:
        raise PlanError(
            [
                (
                    "--visit, --visitor: a live load is always a first visitor's first visit; "
                    "leave these options out"
                )
            ]
        )
    if settings.of_lab:
        raise PlanError(
            ["--logs: the connections of a live load are not ours to log; use --netlog"]
        )


def report_once() -> Callable[[str], None]:
    """Return a function that prints each remark once."""
    reported: set[str] = set()

    def tell(remark: str) -> None:
        if remark not in reported:
            reported.add(remark)
            hints.print(remark, markup=False, soft_wrap=True)

    return tell


def live_loads(
    page: LivePage, stack: Stack, runs: int, seed: int, settings: Browser, wait: HostWait
) -> tuple[Sequence[Trial], Callable[[Trial], TrialResult]]:
    """Return the trials, and a function that runs one."""
    check_live(page.url, stack, settings)
    if settings.of_recording:
        raise PlanError(
            ["--longest-prefix: a live page is served by its own servers; leave it out"]
        )
    trials = live_trials(live_site(page.url), stack, runs, seed, settings)
    return trials, partial(run_live_trial, page=page, host_wait=wait)
