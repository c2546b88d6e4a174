"""Measure in what two stacks differ besides their protocols (`eyelevel validate level`)."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn
from rich.text import Text

from eyelevel.base.errors import INTERRUPTS, PlanError, unknown
from eyelevel.calibration.level.text.level import level_lines
from eyelevel.calibration.measuring.cache import RunCache
from eyelevel.calibration.measuring.effects import measure_effects
from eyelevel.calibration.measuring.measure import (
    WITHOUT_WAYS,
    Level,
    Step,
    read_level,
    stacks_of,
    validate_level,
)
from eyelevel.cli.finish import OpenOption, PageOption, check_opens, end_at
from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.cli.values import duration, get_stack
from eyelevel.plan.origin_rtts import apart_by_ways_alone, have_ways
from eyelevel.plan.stacks import Stack
from eyelevel.report.pages.level import level_page
from eyelevel.store.disk.results import check_file, write_result


@contextmanager
def show_level_progress() -> Iterator[Callable[[Step], None]]:
    """Show progress: on a terminal one changing line, otherwise one line per run."""
    if not hints.is_terminal:
        yield lambda step: hints.print(describe_step(step), markup=False, soft_wrap=True)
        return
    # Nothing is drawn during a run, only before it.
    column = TextColumn("{task.description}", markup=False)
    with Progress(column, console=hints, auto_refresh=False, transient=True) as shown:
        task = shown.add_task("starting")
        yield lambda step: shown.update(task, description=describe_step(step), refresh=True)


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
        _print(level_)
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
    if parsed.browser.browser != "chromium":
        raise PlanError(
            [
                (
                    f"{plan}: its browser is {parsed.browser.browser}, not Chromium; name a plan "
                    "that uses Chromium"
                )
            ]
        )
    stacks = {stack.name: stack for stack in stacks_of(parsed)}
    for name in names:
        if name not in stacks:
            hint = f"{unknown('stack', name, stacks)} It must be one of {plan}'s"
            raise PlanError([f"--stacks: {hint}"])
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


def _print(found: Level) -> None:
    for line in level_lines(found.as_json(), results.width):
        results.print(Text(line.text, line.style), soft_wrap=True)
    for sentence in found.failed:
        hints.print(sentence, markup=False, soft_wrap=True)
