"""Show a run's progress from its directory alone (`eyelevel status`).

The progress bar of a run, with events in lines above it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.cli.output import WARNING_STYLE, LogLines, hints, print_json, results
from eyelevel.cli.values import duration
from eyelevel.run.study.progress import Progress as RunProgress
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
        parts.append(_describe_slots(status.slots, status.slots_there))
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
        lines.append(f"{_count_of(status.machines_lost, 'machine')} lost")
    lines += [f"machine {name} was refused: {why}" for name, why in status.machines_refused.items()]
    if status.decided:
        lines.append(f"stopped early: {status.decided}")
    if status.state in ("dead", "interrupted"):
        last = f"last sign of life at {status.written_at}" if status.written_at else ""
        rest = (
            f"to load the rest: {status.resume}"
            if status.resume
            else "to load the rest: give the command that began it once more, with --resume"
        )
        lines += [each for each in (last, rest) if each]
    return lines


ENDING = "stopping after the current load; press Ctrl-C again to abort it"
ENDING_BLOCKS = "stopping after the current blocks; press Ctrl-C again to abort them"


@contextmanager
def show_progress(total: int) -> Iterator[Callable[[RunProgress], None]]:
    """Show a progress bar, with effects and interrupts in lines above it.

    Without a terminal, progress is logged now and then.
    """
    printed: dict[str, str] = {}
    log = LogLines(hints)
    with _progress_bar() as bar:
        task = bar.add_task("starting", total=total, left="", problems="")

        def show(progress: RunProgress) -> None:
            description, left, problems = _texts(progress)
            bar.update(
                task,
                completed=progress.done,
                total=progress.total,
                refresh=True,
                description=description,
                left=left,
                problems=problems,
            )
            ending = ENDING if progress.slots_there is None else ENDING_BLOCKS
            lines = {
                "effects": progress.effects,
                "decided": f"decided: {progress.decided}" if progress.decided else "",
                "ending": ending if progress.ending else "",
            }
            for about, line in lines.items():
                if line and line != printed.get(about):
                    printed[about] = line
                    bar.console.print(line, markup=False, soft_wrap=True)
            log.tell(f"{progress.done} of {progress.total} loads", left, problems, description)

        yield show


def _progress_bar() -> Progress:
    return Progress(
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[problems]}", style=WARNING_STYLE, markup=False),
        console=hints,
        auto_refresh=False,  # nothing is drawn during a load, only before and after it
        disable=not hints.is_terminal,
    )


def _texts(progress: RunProgress) -> tuple[str, str, str]:
    """Return the work done, the time left, and outcomes other than `ok`."""
    problems = {name: n for name, n in progress.outcomes.items() if name != "ok"}
    trial = progress.trial
    doing = f"{trial.site} {trial.network} {trial.stack}" if trial else ""
    return (
        progress.waiting or _elsewhere(progress) or doing,
        f"{duration(progress.left_s)} left" if progress.left_s else "",
        ", ".join(f"{count} {name}" for name, count in sorted(problems.items())),
    )


def _elsewhere(progress: RunProgress) -> str:
    """Describe remote slots: how many take blocks, how fast, and refused machines."""
    if progress.slots_there is None:
        return ""
    parts = [_describe_slots(progress.slots, progress.slots_there)]
    parts += [f"{progress.loads_per_s:.2g} loads a second"] if progress.loads_per_s else []
    if progress.machines_lost:
        parts.append(f"{_count_of(progress.machines_lost, 'machine')} lost")
    if progress.machines_refused:
        parts.append(f"{_count_of(progress.machines_refused, 'machine')} refused")
    return ", ".join(parts)


def _count_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 slot" or "2 slots"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _describe_slots(slots: int, there: int | None) -> str:
    """Return how many slots take blocks, of those that are present."""
    return (
        f"{slots} of {there} slots admitted"
        if there and there > slots
        else _count_of(slots, "slot")
    )
