"""`eyelevel validate level`: in what do two stacks differ beside what their protocols say?"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated

import typer
from rich.progress import Progress, TextColumn
from rich.text import Text

from eyelevel.cli.options import UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.cli.values import duration, named_stack
from eyelevel.errors import INTERRUPTS, PlanError, unknown
from eyelevel.level.text.level import level_lines
from eyelevel.plan.origin_rtts import apart_by_ways_alone, have_ways
from eyelevel.plan.stacks import Stack
from eyelevel.run.level.effects import measure_effects
from eyelevel.run.level.measure import (
    WITHOUT_WAYS,
    Level,
    Step,
    measured_level,
    stacks_of,
    validate_level,
)


@contextmanager
def shown_level_progress() -> Iterator[Callable[[Step], None]]:
    """On a terminal one line that changes, else a line a run."""
    if not hints.is_terminal:
        yield lambda step: hints.print(step_said(step), markup=False, soft_wrap=True)
        return
    # Nothing is drawn beside a run, only before it.
    column = TextColumn("{task.description}", markup=False)
    with Progress(column, console=hints, auto_refresh=False, transient=True) as shown:
        task = shown.add_task("starting")
        yield lambda step: shown.update(task, description=step_said(step), refresh=True)


def step_said(step: Step) -> str:
    """Which run it is, and the time left."""
    what, most = f"{step.scenario}, {step.stack}", f"at most {duration(step.left_s_max)}"
    if step.once_more:
        return f"one more run {what}: {most} left"
    return f"run {step.number}/{step.runs_min} {what}: {duration(step.left_s)} left, {most}"


DEFAULT = "tcp+,quic"
EXIT_UNEQUAL = 1


def level(
    stacks: Annotated[
        str, typer.Option(help="Two stacks, divided by a comma: see `eyelevel list stacks`.")
    ] = DEFAULT,
    plan: Annotated[
        str | None, typer.Option(help="Of a plan's own stacks: its file, or a preset's name.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is kept.")] = False,
    _unsafe_browser: UnsafeBrowserOption = False,
    effects: Annotated[
        bool,
        typer.Option(
            "--effects",
            help="Also switch each aspect alone, for how many ms it moves: some ten minutes more.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure two stacks beside one another, aspect by aspect, and class each difference.

    A made page in Chromium and transfers of our own client, over three made networks; at most four
    minutes the first time. What was measured is kept for this build, kernel, browser and these
    settings of the stacks: then it is read, only what is unknown is measured further, and an
    interrupted one goes on where it was. Exits 1 where an aspect is unequal. What each row is, and
    what --json prints: docs/reference/level.md.
    """
    names = [name.strip() for name in stacks.split(",") if name.strip()]
    if len(names) != 2:
        raise typer.BadParameter(
            f"--stacks {stacks}: that is {len(names) or 'none'}; give two, as {DEFAULT}"
        )
    first, second = _named(names, plan)
    try:
        with shown_level_progress() as tell:
            level_ = validate_level(first, second, tell, fresh=fresh)
            if effects:
                measure_effects(first, second, tell)
                known = measured_level(first, second)
                level_ = replace(level_, rows=known.rows) if known else level_
    except INTERRUPTS:
        hints.print("what was measured is kept; the same command goes on where it was")
        raise
    if as_json:
        print_json(level_.as_json())
    else:
        _print(level_)
    if any(row.word == "unequal" for row in level_.rows):
        raise typer.Exit(EXIT_UNEQUAL)


def _named(names: Sequence[str], plan: str | None) -> list[Stack]:
    """Presets, or stacks of a plan as its loads have them."""
    if plan is None:
        return [named_stack(name, "--stacks") for name in names]
    parsed = read_plan(plan, [])
    if parsed.browser.browser != "chromium":
        raise PlanError([f"{plan}: its browser is {parsed.browser.browser}, not Chromium"])
    stacks = {stack.name: stack for stack in stacks_of(parsed)}
    for name in names:
        if name not in stacks:
            hint = f"{unknown('stack', name, stacks)} It must be one of {plan}'s"
            raise PlanError([f"--stacks: {hint}"])
    raw = {stack.name: stack for stack in parsed.stacks}
    if apart_by_ways_alone(*(raw[name] for name in names)):
        raise PlanError(
            [
                f"--stacks: {names[0]} and {names[1]} of {plan} differ by the ways to their "
                "origins alone, so there is no level to measure between them"
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
