"""eyelevel: an eye-level comparison of web protocol stacks.

`open` opens a run in notebooks; everything else is in the command (`eyelevel.cli`).

Packages are layers, each importing only those below it (pyproject.toml has their order): the
command, running (`run`, `calibration`, `load`, `sites`), results (`report`, `analysis`), the
drivers of lab and browser, and `plan`, `store` and `base`, which both halves use.
docs/ARCHITECTURE.md lists them and the data flow. Packets, sockets and namespaces are handled by
the data plane, `crates/`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eyelevel.report.notebook import Run


def open(directory: str | os.PathLike[str]) -> Run:
    """Open the run in `directory`; `.frame()` returns its tidy Polars frame.

    Reading it raises `StoreError` for a missing or damaged file.
    """
    # Imported lazily: the command should not wait for what only notebooks use.
    from eyelevel.report.notebook import Run

    return Run(Path(directory))
