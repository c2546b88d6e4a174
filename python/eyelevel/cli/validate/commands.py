"""`eyelevel validate`: is what this machine emulates what it should be?"""

import platform
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from eyelevel.cli.output import coloured, hints, print_json, results, table
from eyelevel.cli.validate.level import level
from eyelevel.cli.validate.live import live
from eyelevel.cli.validate.stacks import stacks
from eyelevel.validation.path import Check, validate_path

EXIT_FAILED = 1
DURATION_MS = 3000

_MARKS: dict[bool | None, Text] = {
    True: coloured("pass", "green"),
    False: coloured("FAIL", "red"),
    None: Text("-"),
}

app = typer.Typer(
    help="Measure whether this machine emulates what it should.", no_args_is_help=True
)

app.command("stacks")(stacks)
app.command("level")(level)
app.command("live")(live)


@app.command("path")
def path(
    duration_ms: Annotated[
        int, typer.Option(min=500, max=60_000, help="Of each of the experiments.")
    ] = DURATION_MS,
    idle_only: Annotated[
        bool, typer.Option("--idle-only", help="Leave out the runs on a loaded machine.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure release times, rate, queue and loss of the path, idle and loaded, against theory.

    Exits 1 if a bound is broken. Release-time errors are bounded with real-time priority only.
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
        shown.add_row(
            _MARKS[check.ok], check.name, check.machine, check.measured, check.theory, check.bound
        )
    results.print(shown)
