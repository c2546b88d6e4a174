"""Cache computed rows in the run's directory, so that nothing is computed twice.

They are never trusted further than their inputs: a row is used again only while the SHA-256 of its
record's bytes and the size and time of its frames file are unchanged, and none at all once the code
that computes it has changed. A running study that reads its own records compares size and time of
the record instead of its bytes. Deleting the rows costs time and nothing else.
"""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.rows import Columns, Row
from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.limits import PARQUET
from eyelevel.base.from_outside.parquet import read_parquet
from eyelevel.base.from_outside.source import Source
from eyelevel.store.directory import FRAMES_FILE, RECORD_FILE, TRIALS
from eyelevel.store.disk.whole import write_whole

TABLE_FILE = "trials.parquet"
ROWS = "rows"
"""The folder of rows that were stored with their trials, until a reader merges them into the
table."""
PART_ROWS = 500


def stamps_of(trials: str, name: str) -> list[str]:
    """Return stamps that change when a trial's record or frames do; `trials`: their folder."""
    return [_stamp(f"{trials}/{name}/{file}") for file in (RECORD_FILE, FRAMES_FILE)]


def digest_of(record: bytes) -> str:
    """Return the SHA-256 of a record's file, in hexadecimal."""
    return hashlib.sha256(record).hexdigest()


def _stamp(file: str) -> str:
    try:
        status = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return "none"
    return f"{status.st_size}.{status.st_mtime_ns}"


def read_kept(directory: Path, columns: Columns) -> pl.DataFrame:
    """Return the rows that this version of the code cached, if they are not damaged."""
    return read_parts([directory / TABLE_FILE, *parts_of(directory)], columns)


def parts_of(directory: Path) -> list[Path]:
    """Return the files of rows that are not yet merged into the table."""
    return sorted((directory / ROWS).glob("*.parquet"))


def read_parts(files: Sequence[Path], columns: Columns) -> pl.DataFrame:
    """Return the rows in these files that this version of the code computed."""
    empty = pl.DataFrame(schema=columns.schema())
    if columns.version is None:
        return empty
    parts = [_read(file, empty) for file in files if file.exists()]
    rows = pl.concat([empty, *parts]).filter(pl.col("computed_by") == columns.version)
    return rows.unique("hash", keep="last")


def _read(file: Path, empty: pl.DataFrame) -> pl.DataFrame:
    try:
        table = read_parquet(file, empty.columns, Source(str(file), PARQUET))
    except OutsideError:
        return empty
    return table if table.schema == empty.schema else empty


def has_parts(directory: Path) -> bool:
    """Return whether any rows are not yet merged into the table."""
    return any((directory / ROWS).glob("*.parquet"))


def keep(directory: Path, table: pl.DataFrame) -> None:
    """Cache all rows as one table, if the directory can be written."""
    with contextlib.suppress(OSError):
        parts = list((directory / ROWS).glob("*.parquet"))
        _write(directory / TABLE_FILE, table)
        for part in parts:
            part.unlink()


def keep_part(directory: Path, rows: pl.DataFrame) -> None:
    """Cache rows in a further file, if the directory can be written."""
    with contextlib.suppress(OSError):
        (directory / ROWS).mkdir(exist_ok=True)
        _write(directory / ROWS / f"{rows['hash'][0]}.parquet", rows)


def _write(file: Path, table: pl.DataFrame) -> None:
    """Write a file of rows. Raises OSError: polars' own error on a full disk hides the cause."""
    content = BytesIO()
    table.write_parquet(content)
    write_whole(file, content.getvalue())


class RowParts:
    """A writer of rows that arrive with their trials, in files of PART_ROWS."""

    def __init__(self, directory: Path, columns: Columns) -> None:
        self._directory, self._columns = directory, columns
        self._rows: list[Row] = []

    def add(self, name: str, row: Row, record: bytes) -> None:
        """Add a committed trial's row; `record` is the content of its file. Raises OSError."""
        stamps = stamps_of(os.fspath(self._directory / TRIALS), name)
        self._rows.append((*row, digest_of(record), *stamps, self._columns.version))
        if len(self._rows) >= PART_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write the rows collected so far. Raises OSError."""
        if not self._rows:
            return
        part = pl.DataFrame(self._rows, schema=self._columns.schema(), orient="row")
        folder = self._directory / ROWS
        folder.mkdir(exist_ok=True)
        _write(folder / f"{part['hash'][0]}.parquet", part)
        self._rows.clear()
