"""An eye-level comparison of web protocol stacks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eyelevel.notebook import Run


def open(directory: str | os.PathLike[str]) -> Run:
    """The run in `directory`; `.frame()` is its tidy Polars frame.

    Raises StoreError, when it is read, for a missing or damaged file.
    """
    # Imported when asked for: the command need not wait for what notebooks use.
    from eyelevel.notebook import Run

    return Run(Path(directory))
