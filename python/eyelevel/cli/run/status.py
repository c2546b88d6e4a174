"""Show a run's progress from its directory alone (`eyelevel status`)."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import print_json, results
from eyelevel.cli.run.bar import count_of, describe_slots
from eyelevel.cli.values import duration
from eyelevel.run.study.status import RunStatus, read_status


def status(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how far a run is and whether it still runs, from its directory alone."""
    found = read_status(directory)
    if as_json:
        print_json(found.as_json())
        return
    for line in _lines(found):
        results.print(line, soft_wrap=True)


def _lines(status: RunStatus) -> list[str]:
    parts = [f"{status.state}: {status.done} of {status.total} loads"]
    if status.slots or status.slots_there is not None:
        parts.append(describe_slots(status.slots, status.slots_there))
    if status.loads_per_s:
        parts.append(f"{status.loads_per_s:.2g} loads a second")
    if status.left_s:
        parts.append(f"{duration(status.left_s)} left")
    lines = [", ".join(parts)]
    if status.writer:
        lines.append(f"by {status.writer}")
    if status.outcomes:
        outcomes = ", ".join(f"{n} {name}" for name, n in sorted(status.outcomes.items()))
        lines.append(f"since its last start at {status.started_at}: {outcomes}")
    if status.machines_lost:
        lines.append(f"{count_of(status.machines_lost, 'machine')} lost")
    lines += [f"machine {name} was refused: {why}" for name, why in status.machines_refused.items()]
    if status.decided:
        lines.append(f"decided early: {status.decided}")
    if status.state in ("dead", "interrupted"):
        last = f"last sign of life at {status.written_at}" if status.written_at else ""
        rest = (
            f"to load the rest: {status.resume}"
            if status.resume
            else "to load the rest: give the command that began it once more, with --resume"
        )
        lines += [each for each in (last, rest) if each]
    return lines
