"""The group `eyelevel validate`, and `validate path`.

Measure in what two stacks differ besides their protocols (`eyelevel validate level`). Compare bulk
transfers of our QUIC with the kernel's TCP (`eyelevel validate stacks`).
"""

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn
from rich.text import Text

from eyelevel.analysis.yardstick import (
    EXPLANATION,
    FLOW_EXPLANATION,
    RATIO_AIM,
    flow_notes,
    flow_row,
    notes,
    row,
)
from eyelevel.base.errors import INTERRUPTS, PlanError, unknown
from eyelevel.calibration.level.text import level_lines
from eyelevel.calibration.measuring.cache import RunCache
from eyelevel.calibration.measuring.measure import (
    WITHOUT_WAYS,
    Level,
    Step,
    measure_effects,
    read_level,
    stacks_of,
    validate_level,
)
from eyelevel.calibration.validation.fine_grid import CONTROLS, fine_grid
from eyelevel.calibration.validation.path import Check, validate_path
from eyelevel.calibration.validation.short_flows import Flow, short_flows
from eyelevel.calibration.validation.stacks import (
    FLOWS,
    PAIRS,
    RUNS,
    Cell,
    build,
    fast_presets,
    folder,
    grid,
    network_of,
    presets,
    validate_stacks,
)
from eyelevel.cli.finish import OpenOption, PageOption, check_opens, end_at
from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import colour, hints, print_json, results, table
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.cli.validate.live import live
from eyelevel.cli.values import duration, get_stack
from eyelevel.plan.origin_rtts import apart_by_ways_alone, have_ways
from eyelevel.plan.stacks import Stack
from eyelevel.report.pages.level import level_page
from eyelevel.store.disk import check_file, write_result


@contextmanager
def show_level_progress() -> Iterator[Callable[[Step], None]]:
    """Show progress: on a terminal one changing line, otherwise one line per run."""
    if not hints.is_terminal:
        yield lambda step: hints.print(describe_step(step), markup=False, soft_wrap=True)
        return
    # Nothing is drawn during a run, only before it.
    column = TextColumn("{task.description}", markup=False)
    with Progress(column, console=hints, auto_refresh=False, transient=True) as bar:
        task = bar.add_task("starting")
        yield lambda step: bar.update(task, description=describe_step(step), refresh=True)


def describe_step(step: Step) -> str:
    """Describe the run, and the time left."""
    what, most = f"{step.scenario}, {step.stack}", f"at most {duration(step.left_s_max)}"
    if step.once_more:
        return f"one more run {what}: {most} left"
    return f"run {step.number}/{step.runs_min} {what}: {duration(step.left_s)} left, {most}"


DEFAULT = "tcp+,quic"
EXIT_UNEQUAL = 1


def level(
    stacks: Annotated[
        str, typer.Option(help="Two stacks from `eyelevel list stacks`, separated by a comma.")
    ] = DEFAULT,
    plan: Annotated[
        str | None,
        typer.Option(help="For a plan's own stacks: the plan file, or the name of a preset."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again, even what is kept.")
    ] = False,
    _unsafe_browser: UnsafeBrowserOption = False,
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help=(
                "Also switch each aspect alone to see how many ms it moves; takes about ten "
                "minutes more."
            ),
        ),
    ] = False,
    page: PageOption = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure what two stacks differ in besides their protocols, aspect by aspect.

    It loads a page made for this in Chromium and runs transfers with our own client, over three
    made networks; the first time takes at most four minutes. Results are kept for this build,
    kernel, browser and these settings of the stacks. A later call reads them and measures only
    what is still unknown; an interrupted one continues where it stopped. Exits 1 if an aspect
    is unequal. docs/reference/level.md explains each row and the output of --json.
    """
    check_opens(open_, page, "page", "--page FILE.html")
    if page:
        check_file(page)
    names = [name.strip() for name in stacks.split(",") if name.strip()]
    if len(names) != 2:
        raise typer.BadParameter(
            f"--stacks {stacks}: that is {len(names) or 'none'}; give two, as {DEFAULT}"
        )
    first, second = _find_stacks(names, plan)
    try:
        with show_level_progress() as tell:
            level_ = validate_level(first, second, tell, fresh=fresh)
            if effects:
                measure_effects(first, second, tell)
                known = read_level(first, second)
                level_ = replace(level_, rows=known.rows) if known else level_
    except INTERRUPTS:
        hints.print("what was measured is kept; the same command continues where it stopped")
        raise
    if page:  # before printing, which a closed pipe may end
        write_result(page, level_page(level_.as_json()))
    if as_json:
        print_json(level_.as_json())
    else:
        _print_level(level_)
    if (kept := RunCache((first, second)).file).exists():  # unless every run failed
        end_at("kept", kept, as_json=as_json)
    if page:
        end_at("page", page, opens=open_, as_json=as_json)
    if any(row.word == "unequal" for row in level_.rows):
        raise typer.Exit(EXIT_UNEQUAL)


def _find_stacks(names: Sequence[str], plan: str | None) -> list[Stack]:
    """Return presets, or stacks of a plan as in force for its loads."""
    if plan is None:
        return [get_stack(name, "--stacks") for name in names]
    parsed = read_plan(plan, [])
    stacks = {stack.name: stack for stack in stacks_of(parsed)}
    for name in names:
        if name not in stacks:
            hint = f"{unknown('stack', name, stacks)} It must be one of {plan}'s"
            raise PlanError([f"--stacks: {hint}"])
        if not parsed.browser_of(name).is_installed_chromium:
            raise PlanError(
                [
                    f"{plan}: `{name}` is not loaded with the installed Chromium alone, with which "
                    "levels are measured; name a plan without another browser, build or switches"
                ]
            )
    raw = {stack.name: stack for stack in parsed.stacks}
    if apart_by_ways_alone(*(raw[name] for name in names)):
        raise PlanError(
            [
                f"--stacks: {names[0]} and {names[1]} of {plan} differ only in the paths to "
                "their origins, so there is no level to measure between them; name two others"
            ]
        )
    if have_ways(*(raw[name] for name in names)):
        hints.print(WITHOUT_WAYS, markup=False, soft_wrap=True)
    return [stacks[name] for name in names]


def _print_level(found: Level) -> None:
    for line in level_lines(found.as_json(), results.width):
        results.print(Text(line.text, line.style), soft_wrap=True)
    for sentence in found.failed:
        hints.print(sentence, markup=False, soft_wrap=True)


class Control(StrEnum):
    """Congestion controllers that both kernel and QUIC have, by the presets' names."""

    cubic = "cubic"
    bbr = "bbr"


def stacks(
    network: Annotated[
        list[str] | None,
        typer.Option(help="A preset network, or a cell of the grid such as 40ms-1.0%. Repeatable."),
    ] = None,
    congestion_control: Annotated[
        Control | None, typer.Option(help="Only this congestion control; by default all.")
    ] = None,
    grid_too: Annotated[
        bool, typer.Option("--grid/--no-grid", help="Also measure the grid of loss and round trip.")
    ] = True,
    fine: Annotated[
        bool,
        typer.Option(
            "--fine", help="Instead, measure a finer grid of our controllers in virtual time."
        ),
    ] = False,
    flows: Annotated[
        bool,
        typer.Option(
            "--flows", help="Instead, time transfers of 10 kB to 1 MB to their last byte."
        ),
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Runs of each stack in each cell; with --flows 9, or 31 if packets are lost.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="How many cells are measured at once.")
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again, even what is cached.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare bulk transfers over the kernel's TCP and our QUIC with the same congestion control.

    Transfers last 10 MB or 30 s, over seven preset networks and, with --grid, over a grid of
    one-way loss (0 to 6 %) and round trip (10 to 760 ms). The two networks of 105 and 220
    Mbit/s move what they carry in 3.2 s, with varying and with constant rate. Goodputs are
    medians, corrected for headers; the ratio is QUIC's over TCP's, with its 95 % interval.
    Lossy networks are run until each side has retransmitted 100 packets. Results are cached for
    this build and kernel, and an interrupted run continues where it stopped. All cells take
    hours (`--jobs` measures several at once, each in its own labs); reports of later runs print
    them in an appendix.
    """
    if fine:
        _fine([congestion_control] if congestion_control else CONTROLS, as_json)
        return
    chosen = [network_of(name) for name in network] if network else presets()
    if not network and not flows:
        chosen += [*fast_presets(), *(grid() if grid_too else [])]
    pairs = [
        pair
        for control, pair in zip(Control, PAIRS, strict=True)
        if congestion_control in (None, control)
    ]
    on_step = lambda step: hints.print(f"measuring {step}")  # noqa: E731
    if flows:
        _flows(short_flows(chosen, pairs, runs, on_step, fresh=fresh, jobs=jobs), as_json)
        end_at("kept", folder() / FLOWS, as_json=as_json)
        return
    cells = validate_stacks(chosen, pairs, runs or RUNS, on_step, fresh=fresh, jobs=jobs)
    if as_json:
        print_json({**build(), "cells": [cell.as_json() for cell in cells]})
    else:
        _print_stacks(cells)
    end_at("kept", folder(), as_json=as_json)


def _print_stacks(cells: Sequence[Cell]) -> None:
    numbers = ("TCP Mbit/s", "QUIC Mbit/s", "ratio", "95 %", "repeated %", "queue p95 ms")
    listing = table("network", "control", *numbers, "", right=numbers)
    for cell in cells:
        listing.add_row(*row(cell.as_json()), ", ".join(notes(cell.as_json())))
    results.print(listing)
    results.print(
        f"\nPairs are TCP / QUIC. Without loss the ratio should be {RATIO_AIM[0]} to "
        f"{RATIO_AIM[1]}."
    )
    if any(cell.loss for cell in cells):
        results.print(EXPLANATION)


def _flows(flows: Sequence[Flow], as_json: bool) -> None:
    if as_json:
        print_json({**build(), "flows": [flow.as_json() for flow in flows]})
        return
    numbers = ("bytes", "TCP ms", "QUIC ms", "ratio", "95 %", "theory", "repeated")
    listing = table("network", "control", *numbers, "", right=numbers)
    for flow in flows:
        listing.add_row(*flow_row(flow.as_json()), ", ".join(flow_notes(flow.as_json())))
    results.print(listing)
    results.print(f"\n{FLOW_EXPLANATION}")


def _fine(controls: Sequence[str], as_json: bool) -> None:
    cells = fine_grid(controls)
    if as_json:
        print_json({**build(), "cells": [asdict(cell) for cell in cells]})
        return
    for control in controls:
        of_control = [cell for cell in cells if cell.congestion_control == control]
        rtts = dict.fromkeys(f"{cell.rtt_ms_min:g}" for cell in of_control)
        title = f"{control}: Mbit/s of 10, by loss each way and round trip in ms"
        listing = table("loss %", *rtts, title=title, right=("loss %", *rtts))
        for loss in dict.fromkeys(cell.loss for cell in of_control):
            goodputs = [cell.goodput_bit_s for cell in of_control if cell.loss == loss]
            listing.add_row(f"{loss * 100:g}", *(f"{goodput / 1e6:.2f}" for goodput in goodputs))
        results.print(listing)
        results.print()


EXIT_FAILED = 1
DURATION_MS = 3000

_MARKS: dict[bool | None, Text] = {
    True: colour("pass", "green"),
    False: colour("FAIL", "red"),
    None: Text("-"),
}

_PRINTED_CHECKS = {
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
    listing = table("", "what", "machine", "measured", "theory", "bound")
    for check in checks:
        row = (_reword(check.name), check.machine, check.measured, check.theory, check.bound)
        listing.add_row(_MARKS[check.ok], *row)
    results.print(listing)


def _reword(name: str) -> str:
    for recorded, wording in _PRINTED_CHECKS.items():
        if name.startswith(recorded):
            return wording + name.removeprefix(recorded)
    return name
