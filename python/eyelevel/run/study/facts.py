"""The facts of a running study's records so far, read once for all readers."""

from pathlib import Path
from typing import TYPE_CHECKING

from eyelevel.store.directory import PLAN_FILE, read_document

if TYPE_CHECKING:
    import polars as pl

    from eyelevel.analysis.run_files import GrowingFacts
    from eyelevel.analysis.trials.rows import Measure


class FactsSoFar:
    """The facts of a run's loads so far; the first read opens the records."""

    def __init__(self, directory: Path, measured_by: "Measure | None" = None) -> None:
        self._directory, self._measured_by = directory, measured_by
        self._facts: GrowingFacts | None = None

    def read(self) -> "pl.DataFrame":
        """Read the facts (`eyelevel.analysis.run_files.GrowingFacts`). Raises StoreError."""
        if self._facts is None:
            # Imported here: tables take long, and few runs are analysed while they go on.
            from eyelevel.analysis.metrics.compute import measure
            from eyelevel.analysis.run_files import GrowingFacts

            document = read_document(self._directory, PLAN_FILE)
            measured_by = self._measured_by or measure
            self._facts = GrowingFacts(self._directory, document, measured_by)
        return self._facts.read()
