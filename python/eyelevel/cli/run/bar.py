"""The progress bar of a run, with events in lines above it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from eyelevel.cli.output import WARNING_STYLE, LogLines, hints
from eyelevel.cli.values import duration
from eyelevel.run.study.progress import Progress as RunProgress

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
    parts = [describe_slots(progress.slots, progress.slots_there)]
    parts += [f"{progress.loads_per_s:.2g} loads a second"] if progress.loads_per_s else []
    if progress.machines_lost:
        parts.append(f"{count_of(progress.machines_lost, 'machine')} lost")
    if progress.machines_refused:
        parts.append(f"{count_of(progress.machines_refused, 'machine')} refused")
    return ", ".join(parts)


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun, such as "1 slot" or "2 slots"."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe_slots(slots: int, there: int | None) -> str:
    """Return how many slots take blocks, of those that are present."""
    return (
        f"{slots} of {there} slots admitted" if there and there > slots else count_of(slots, "slot")
    )
