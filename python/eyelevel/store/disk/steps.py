"""Report the steps of a write to tests, which end the process or fill the disk at a step.

A table next to each kind of write names its steps in order (`whole.STEPS`,
`eyelevel.store.commit.STEPS`); `report_step` is called as each begins.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_told: Callable[[str], None] | None = None


def report_step(step: str) -> None:
    """Report that `step` begins; does nothing unless a test watches."""
    if _told is not None:
        _told(step)


@contextmanager
def watch_steps(told: Callable[[str], None]) -> Iterator[None]:
    """Call `told` with the name of each step that this process begins within the block."""
    global _told
    _told = told
    try:
        yield
    finally:
        _told = None
