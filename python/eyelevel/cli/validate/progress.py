"""What `eyelevel validate level` says while it measures."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import Progress, TextColumn

from eyelevel.cli.output import hints
from eyelevel.cli.values import duration
from eyelevel.run.level.measure import Step


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
