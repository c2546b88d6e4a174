"""The one writer of a run: trials that come as bytes, and their rows."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from eyelevel.errors import StoreError
from eyelevel.store.commit import write_block
from eyelevel.store.directory import RECORD_FILE, refusals
from eyelevel.store.packed import PackedTrial

if TYPE_CHECKING:
    from eyelevel.analysis.trials.kept_rows import RowParts


class Committer:
    """Writes under a run's directory, which this process has claimed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rows: RowParts | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._rows is not None:
            # Rows may be computed again: what ends the run is told, and not what follows from it.
            with suppress(StoreError) if error else nullcontext(), refusals(self._directory):
                self._rows.flush()

    def commit(self, packed: Sequence[PackedTrial]) -> None:
        """All of a block or nothing of it; then the rows, which may be computed again.

        Raises StoreError when the disk refuses.
        """
        write_block(self._directory, packed)
        with refusals(self._directory):
            for each in packed:
                if each.row is not None:
                    self._row_parts().add(each.name, each.row, each.files[RECORD_FILE])

    def _row_parts(self) -> "RowParts":
        if self._rows is None:
            # Imported where it is used: tables take long, and few runs get rows.
            from eyelevel.analysis.run_files import kept_columns
            from eyelevel.analysis.trials.kept_rows import RowParts

            self._rows = RowParts(self._directory, kept_columns())
        return self._rows
