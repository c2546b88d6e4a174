"""The one writer of a run: it commits trials that arrive as bytes, and stores their rows."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from eyelevel.base.errors import StoreError
from eyelevel.store.commit import write_block
from eyelevel.store.directory import RECORD_FILE, refusals
from eyelevel.store.packed import PackedTrial

if TYPE_CHECKING:
    from eyelevel.analysis.trials.kept_rows import RowParts


class Committer:
    """A writer for a run's directory, which this process has claimed."""

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
            # Rows can be recomputed, so that their error must not hide the one that ended the run.
            with suppress(StoreError) if error else nullcontext(), refusals(self._directory):
                self._rows.flush()

    def commit(self, packed: Sequence[PackedTrial]) -> None:
        """Commit all of a block or nothing of it, then store its rows, which can be recomputed.

        Raises StoreError for an error of the disk.
        """
        write_block(self._directory, packed)
        with refusals(self._directory):
            for each in packed:
                if each.row is not None:
                    self._row_parts().add(each.name, each.row, each.files[RECORD_FILE])

    def _row_parts(self) -> "RowParts":
        if self._rows is None:
            # Imported here: it takes long, and few runs get rows.
            from eyelevel.analysis.run_files import kept_columns
            from eyelevel.analysis.trials.kept_rows import RowParts

            self._rows = RowParts(self._directory, kept_columns())
        return self._rows
