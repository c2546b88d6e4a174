"""`eyelevel validate level`: in what do two stacks differ beside what their protocols say?"""

from dataclasses import replace
from typing import Annotated, Any

import typer

from eyelevel.cli.cell import named_stack
from eyelevel.cli.durations import duration
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.level.level_said import MEANING, counts, level_row
from eyelevel.run.level_effects import measure_effects
from eyelevel.run.level_validation import Level, Step, measured_level, validate_level

DEFAULT = "tcp+,quic"
EXIT_UNEQUAL = 1


def level(
    stacks: Annotated[
        str, typer.Option(help="Two stacks, divided by a comma: see `eyelevel list stacks`.")
    ] = DEFAULT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is kept.")] = False,
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
    minutes the first time, then what was measured is read: it is kept for this build, kernel,
    browser and these settings of the stacks. An interrupted one goes on where it was. Exits 1 where
    an aspect is unequal. What each row is: docs/reference/level.md.
    """
    names = [name.strip() for name in stacks.split(",") if name.strip()]
    if len(names) != 2:
        raise typer.BadParameter(f"--stacks {stacks}: give two, as {DEFAULT}")
    first, second = (named_stack(name) for name in names)
    try:
        found = validate_level(first, second, _tell, fresh=fresh)
        if effects:
            measure_effects(first, second, _tell)
            known = measured_level(first, second)
            found = replace(found, rows=known.rows) if known else found
    except KeyboardInterrupt:
        hints.print("interrupted; the same command goes on where it was")
        raise
    if as_json:
        print_json(found.as_json())
    else:
        _print(found)
    if any(row.word == "unequal" for row in found.rows):
        raise typer.Exit(EXIT_UNEQUAL)


def _tell(step: Step) -> None:
    about = "once more to be sure, at most" if step.once_more else "about"
    said = f"{step.scenario}: {step.stack}, {about} {duration(step.left_s)} left"
    hints.print(f"measuring {said}", markup=False)


def _print(found: Level) -> None:
    shown = found.as_json()
    numbers = (found.first, found.second, "difference", "margin")
    effects = any(row["effect_ms"] for row in shown["rows"])
    moved = ("moves",) if effects else ()
    made = table("aspect", "where", "finding", *numbers, "why", *moved, right=numbers)
    for row in shown["rows"]:
        cells = level_row(row)
        cells[2] = _marked(row, cells[2])
        made.add_row(*(cells if effects else cells[:-1]))
    results.print(made)
    told = ", ".join(f"{count} {word}" for word, count in counts([shown]).items())
    results.print(f"\n{found.second} less {found.first}. {told}. {MEANING}")
    for sentence in found.failed:
        hints.print(sentence, markup=False)


def _marked(row: dict[str, Any], word: str) -> str:
    colour = {"unequal": "red", "unknown": "yellow", "equal": "green"}.get(row["word"])
    return f"[{colour}]{word}[/]" if colour else word
