"""Keep computed rows beside the records, so that nothing is computed twice.

They are never trusted further than their inputs: a row is used again only while the SHA-256 of its
record's bytes and the size and time of its frames file are the same, and none at all once the code
that computes it has changed. A run that goes on, and looks at its own records, takes size and time
of the record for its bytes. Deleting rows costs time and nothing else.
"""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.rows import Columns, Row
from eyelevel.disk.whole import write_whole
from eyelevel.errors import OutsideError
from eyelevel.from_outside.limits import PARQUET
from eyelevel.from_outside.parquet import read_parquet
from eyelevel.from_outside.source import Source
from eyelevel.store.directory import FRAMES_FILE, RECORD_FILE, TRIALS

TABLE_FILE = "trials.parquet"
ROWS = "rows"
"""A folder of a run: rows that came with their trials, until a reader puts them into the table."""
PART_ROWS = 500


def stamps_of(trials: str, name: str) -> list[str]:
    """Return stamps that change when a trial's record or frames do; `trials`: their folder."""
    return [_stamp(f"{trials}/{name}/{file}") for file in (RECORD_FILE, FRAMES_FILE)]


def digest_of(record: bytes) -> str:
    """Return the digest of a record's file."""
    return hashlib.sha256(record).hexdigest()


def _stamp(file: str) -> str:
    try:
        status = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return "none"
    return f"{status.st_size}.{status.st_mtime_ns}"


def read_kept(directory: Path, columns: Columns) -> pl.DataFrame:
    """Return the rows that were kept by this very code; none where it was another's or is
    damaged."""
    return read_parts([directory / TABLE_FILE, *parts_of(directory)], columns)


def parts_of(directory: Path) -> list[Path]:
    """Return the files of rows that are not in the table yet."""
    return sorted((directory / ROWS).glob("*.parquet"))


def read_parts(files: Sequence[Path], columns: Columns) -> pl.DataFrame:
    """Return the rows in these files, in the form of `read_kept`."""
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
    """Return whether there are rows that are not in the table yet."""
    return any((directory / ROWS).glob("*.parquet"))


def keep(directory: Path, table: pl.DataFrame) -> None:
    """Keep all rows as one table. A directory that is read only can be read all the same."""
    with contextlib.suppress(OSError):
        parts = list((directory / ROWS).glob("*.parquet"))
        _write(directory / TABLE_FILE, table)
        for part in parts:
            part.unlink()


def keep_part(directory: Path, rows: pl.DataFrame) -> None:
    """Keep rows in a file beside the table; as `keep`."""
    with contextlib.suppress(OSError):
        (directory / ROWS).mkdir(exist_ok=True)
        _write(directory / ROWS / f"{rows['hash'][0]}.parquet", rows)


def _write(file: Path, table: pl.DataFrame) -> None:
    """Write a file of rows. Raises OSError, since polars' own error on a full disk does not name
    the cause."""
    content = BytesIO()
    table.write_parquet(content)
    write_whole(file, content.getvalue())


class RowParts:
    """Rows that come with trials, written in parts of PART_ROWS."""

    def __init__(self, directory: Path, columns: Columns) -> None:
        self._directory, self._columns = directory, columns
        self._rows: list[Row] = []

    def add(self, name: str, row: Row, record: bytes) -> None:
        """Add a committed trial's row; `record`: its file's content. Raises OSError."""
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
