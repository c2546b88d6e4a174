"""Read all trials of a run as one tidy table: one row per trial, one column per metric.

Computing metrics from frames takes most of the time, so rows are cached in the run's directory
(`eyelevel.analysis.trials.table`).

Cache computed rows in the run's directory, so that nothing is computed twice.

They are never trusted further than their inputs: a row is used again only while the SHA-256 of its
record's bytes and the size and time of its frames file are unchanged, and none at all once the code
that computes it has changed. A running study that reads its own records compares size and time of
the record instead of its bytes. Deleting the rows costs time and nothing else.
"""

import contextlib
import hashlib
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from io import BytesIO
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.facts import SOURCE_COLUMNS, Columns, Row
from eyelevel.analysis.trials.post_hoc_exclusions import MACHINE_CLASS
from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.limits import PARQUET
from eyelevel.base.from_outside.parquet import read_parquet
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import (
    FRAMES_FILE,
    RECORD_FILE,
    TRIALS,
    StoredTrial,
    list_committed,
    parse_record,
    read_record_file,
)
from eyelevel.store.disk import write_whole
from eyelevel.store.machines import read_machines

TABLE_FILE = "trials.parquet"
ROWS = "rows"
"""The folder of rows that were stored with their trials, until a reader merges them into the
table."""
PART_ROWS = 500


def _stamps_of(trials: str, name: str) -> list[str]:
    """Return stamps that change when a trial's record or frames do; `trials`: their folder."""
    return [_stamp(f"{trials}/{name}/{file}") for file in (RECORD_FILE, FRAMES_FILE)]


def _digest_of(record: bytes) -> str:
    """Return the SHA-256 of a record's file, in hexadecimal."""
    return hashlib.sha256(record).hexdigest()


def _stamp(file: str) -> str:
    try:
        status = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return "none"
    return f"{status.st_size}.{status.st_mtime_ns}"


def _read_kept(directory: Path, columns: Columns) -> pl.DataFrame:
    """Return the rows that this version of the code cached, if they are not damaged."""
    return _read_parts([directory / TABLE_FILE, *_parts_of(directory)], columns)


def _parts_of(directory: Path) -> list[Path]:
    """Return the files of rows that are not yet merged into the table."""
    return sorted((directory / ROWS).glob("*.parquet"))


def _read_parts(files: Sequence[Path], columns: Columns) -> pl.DataFrame:
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


def _has_parts(directory: Path) -> bool:
    """Return whether any rows are not yet merged into the table."""
    return any((directory / ROWS).glob("*.parquet"))


def keep(directory: Path, table: pl.DataFrame) -> None:
    """Cache all rows as one table, if the directory can be written."""
    with contextlib.suppress(OSError):
        parts = list((directory / ROWS).glob("*.parquet"))
        _write(directory / TABLE_FILE, table)
        for part in parts:
            part.unlink()


def _keep_part(directory: Path, rows: pl.DataFrame) -> None:
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
        stamps = _stamps_of(os.fspath(self._directory / TRIALS), name)
        self._rows.append((*row, _digest_of(record), *stamps, self._columns.version))
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


CHUNK_TRIALS = 2500  # bounds the memory of a process


def trials_table(directory: Path, columns: Columns, processes: int = 1) -> pl.DataFrame:
    """Return the table of all committed trials, sorted by hash, with outcomes as recorded.

    A load that did not end has nulls in every metric column, a timed-out one included: its values
    up to the limit are not those of the page. One that ended and failed a rule has its values, from
    which `eyelevel.analysis.gains.exclusions` computes the rule's effect. More than one of
    `processes` needs a main module that can be imported, as `multiprocessing` documents. Raises
    StoreError for a damaged record.
    """
    return _with_classes_of(_whole_table(directory, columns, processes), directory)


class GrowingTable:
    """The table of a running study, for repeated reading.

    Committed trials never change, so that each is read once. Records with cached rows are not
    opened either; the report reads them all.
    """

    def __init__(self, directory: Path, columns: Columns) -> None:
        self._directory, self._columns = directory, columns
        self._rows: pl.DataFrame | None = None
        self._parts: set[Path] = set()

    def read(self) -> pl.DataFrame:
        """Return the present table, as `trials_table` does."""
        if self._rows is None:
            self._rows = _whole_table(self._directory, self._columns, are_unchanged=True)
            self._parts = set(_parts_of(self._directory))
        else:
            self._rows = self._grown(self._rows)
        return _with_classes_of(self._rows, self._directory)

    def _grown(self, rows: pl.DataFrame) -> pl.DataFrame:
        names = sorted(list_committed(self._directory) - set(rows["hash"]))
        parts = [part for part in _parts_of(self._directory) if part not in self._parts]
        self._parts |= set(parts)
        came = _read_parts(parts, self._columns)
        kept, fresh = _read_trials(self._directory, self._columns, names, came, are_unchanged=True)
        if self._columns.version is not None and fresh.height:
            _keep_part(self._directory, fresh)
        return pl.concat([rows, kept, fresh]).sort("hash")


def _with_classes_of(rows: pl.DataFrame, directory: Path) -> pl.DataFrame:
    return with_classes(rows.drop(*SOURCE_COLUMNS), read_machines(directory))


def _whole_table(
    directory: Path, columns: Columns, processes: int = 1, *, are_unchanged: bool = False
) -> pl.DataFrame:
    names = sorted(list_committed(directory))
    known = _read_kept(directory, columns)
    kept, fresh = _read_trials(
        directory, columns, names, known, processes, are_unchanged=are_unchanged
    )
    table = pl.concat([kept, fresh]).sort("hash")
    is_new = fresh.height or known.height != table.height or _has_parts(directory)
    if columns.version is not None and is_new:
        keep(directory, table)
    return table


def _read_trials(
    directory: Path,
    columns: Columns,
    names: Sequence[str],
    kept: pl.DataFrame,
    processes: int = 1,
    *,
    are_unchanged: bool,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the valid rows of `kept` for these trials, and the computed rows of all others.

    `are_unchanged`: a record with the size and time of its row is taken as unchanged.
    """
    sources = kept.select("hash", "record_sha256", "record_stamp", "frames_stamp")
    known: dict[str, _Sources] = {row[0]: row[1:] for row in sources.iter_rows()}
    work = [
        (
            directory,
            columns,
            [(name, known.get(name, _UNKNOWN)) for name in names[start : start + CHUNK_TRIALS]],
            are_unchanged,
        )
        for start in range(0, len(names), CHUNK_TRIALS)
    ]
    parts = list(_map_column(work, min(processes, len(work))))
    fresh = pl.concat([pl.DataFrame(schema=columns.schema()), *parts])
    unchanged = set(names) - set(fresh["hash"])
    return kept.filter(pl.col("hash").is_in(list(unchanged))), fresh


def with_classes(table: pl.DataFrame, machines: Mapping[str, JsonMapping]) -> pl.DataFrame:
    """Add the column MACHINE_CLASS: loads with the same value may be compared.

    Machines without a class are classes of their own: unknown ones, and those refused after they
    made loads. `machines`: their documents by ID.
    """
    known = {
        name: str(each["class"]) for name, each in machines.items() if each["class"] is not None
    }
    alone = pl.concat_str(pl.lit("machine "), "machine")
    words = pl.col("machine").replace_strict(known, default=alone, return_dtype=pl.String)
    return table.with_columns(words.fill_null("").alias(MACHINE_CLASS))


_Sources = tuple[str, ...]
"""The digest of a trial's record, and the stamps of its record and frames."""
_UNKNOWN: _Sources = ("", "", "")
_Work = tuple[Path, Columns, list[tuple[str, _Sources]], bool]


def _map_column(work: Sequence[_Work], processes: int) -> Iterator[pl.DataFrame]:
    if processes < 2:
        yield from map(_rows, work)
        return
    # Spawned, since Polars' threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(_rows, work)


def _rows(work: _Work) -> pl.DataFrame:
    """Return the rows of the trials whose sources differ from the known ones."""
    directory, columns, wanted, are_unchanged = work
    trials = os.fspath(directory / TRIALS)
    rows = []
    for name, (known_digest, *known_stamps) in wanted:
        stamps = _stamps_of(trials, name)
        if are_unchanged and stamps == known_stamps:
            continue
        content = read_record_file(f"{trials}/{name}")
        digest = _digest_of(content)
        if digest == known_digest and stamps[1] == known_stamps[1]:
            continue
        path = directory / TRIALS / name
        stored = StoredTrial(path, parse_record(content, name, path / RECORD_FILE))
        row = columns.row(stored.record, stored.frames)
        rows.append((*row, digest, *stamps, columns.version))
    return pl.DataFrame(rows, schema=columns.schema(), orient="row")
