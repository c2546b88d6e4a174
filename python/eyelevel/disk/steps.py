"""Report the progress of a write to a test, which ends the process or fills the disk there.

The steps of each kind of write are named in a table beside it, in their order (`whole.STEPS`,
`eyelevel.store.commit.STEPS`), and `report_step` is called as each begins.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_told: Callable[[str], None] | None = None


def report_step(step: str) -> None:
    """`step` begins; costs nothing unless somebody watches."""
    if _told is not None:
        _told(step)


@contextmanager
def watch_steps(told: Callable[[str], None]) -> Iterator[None]:
    """Within the block `told` is called with the name of each step of this process."""
    global _told
    _told = told
    try:
        yield
    finally:
        _told = None
