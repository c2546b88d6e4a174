"""An eye-level comparison of web protocol stacks.

`open` gives a run to notebooks; everything else is the command (`eyelevel.cli`).

Packages are layers, each importing only those below it (pyproject.toml has their order): the
command, running (`run`, `validation`, `sites`), what a run says (`report`, `analysis`), the drivers
of lab and browser, and the pure packages that both halves stand on. docs/ARCHITECTURE.md has the
list of them and how data flows. What touches packets, sockets or namespaces is not here but in the
data plane, `crates/`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eyelevel.notebook import Run


def open(directory: str | os.PathLike[str]) -> Run:
    """Return the run in `directory`; `.frame()` is its tidy Polars frame.

    Raises StoreError, when it is read, for a missing or damaged file.
    """
    # Imported when asked for: the command need not wait for what notebooks use.
    from eyelevel.notebook import Run

    return Run(Path(directory))
