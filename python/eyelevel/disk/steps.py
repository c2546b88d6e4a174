"""Report the progress of a write to a test, which ends the process or fills the disk there.

The steps of each kind of write are named in a table beside it, in their order (`whole.STEPS`,
`eyelevel.store.commit.STEPS`), and `report_step` is called as each begins.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_told: Callable[[str], None] | None = None


def report_step(step: str) -> None:
    """Report that `step` begins; costs nothing unless a test watches."""
    if _told is not None:
        _told(step)


@contextmanager
def watch_steps(told: Callable[[str], None]) -> Iterator[None]:
    """Call `told` within the block with the name of each step of this process."""
    global _told
    _told = told
    try:
        yield
    finally:
        _told = None
