"""The group `eyelevel validate`, and `validate path`."""

import platform
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from eyelevel.calibration.validation.path import Check, validate_path
from eyelevel.cli.output import colour, hints, print_json, results, table
from eyelevel.cli.validate.level import level
from eyelevel.cli.validate.live import live
from eyelevel.cli.validate.stacks import stacks

EXIT_FAILED = 1
DURATION_MS = 3000

_MARKS: dict[bool | None, Text] = {
    True: colour("pass", "green"),
    False: colour("FAIL", "red"),
    None: Text("-"),
}

_SAID = {
    "late by": "lateness",
    "waited to be read": "wait before the read",
    "without a time of arrival": "without arrival time",
    "lost unasked": "unexpected losses",
    "unlike the model": "differences from the model",
}
"""Printed text by the beginning of a check's name in records, whose names are fixed."""

app = typer.Typer(
    help="Measure whether this machine emulates what it should.", no_args_is_help=True
)

app.command("stacks")(stacks)
app.command("level")(level)
app.command("live")(live)


@app.command("path")
def path(
    duration_ms: Annotated[
        int, typer.Option(min=500, max=60_000, help="The length of each experiment.")
    ] = DURATION_MS,
    idle_only: Annotated[
        bool, typer.Option("--idle-only", help="Leave out the runs on a loaded machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check release times, rate, queue and loss of the emulated path against theory.

    It measures on an idle and on a loaded machine. Exits 1 if a bound is broken. Errors of
    release times have bounds only with real-time priority.
    """
    checks = validate_path(
        duration_ms, lambda step: hints.print(f"measuring {step}"), loaded=not idle_only
    )
    failed = [check for check in checks if check.ok is False]
    if as_json:
        print_json(
            {
                "passed": not failed,
                "duration_ms": duration_ms,
                "kernel": platform.release(),
                "checks": [asdict(check) for check in checks],
            }
        )
    else:
        _print(checks)
    if failed:
        raise typer.Exit(EXIT_FAILED)


def _print(checks: list[Check]) -> None:
    shown = table("", "what", "machine", "measured", "theory", "bound")
    for check in checks:
        row = (_reword(check.name), check.machine, check.measured, check.theory, check.bound)
        shown.add_row(_MARKS[check.ok], *row)
    results.print(shown)


def _reword(name: str) -> str:
    for recorded, said in _SAID.items():
        if name.startswith(recorded):
            return said + name.removeprefix(recorded)
    return name
