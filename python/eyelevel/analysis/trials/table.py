"""Read all trials of a run as one tidy table: one row per trial, one column per metric.

Computing metrics from frames takes most of the time, so rows are cached in the run's directory
(`eyelevel.analysis.trials.kept_rows`).
"""

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.kept_rows import (
    digest_of,
    has_parts,
    keep,
    keep_part,
    parts_of,
    read_kept,
    read_parts,
    stamps_of,
)
from eyelevel.analysis.trials.post_hoc_exclusions import MACHINE_CLASS
from eyelevel.analysis.trials.rows import SOURCE_COLUMNS, Columns
from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import (
    RECORD_FILE,
    TRIALS,
    StoredTrial,
    list_committed,
    parse_record,
    read_record_file,
)
from eyelevel.store.machines import read_machines

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
            self._parts = set(parts_of(self._directory))
        else:
            self._rows = self._grown(self._rows)
        return _with_classes_of(self._rows, self._directory)

    def _grown(self, rows: pl.DataFrame) -> pl.DataFrame:
        names = sorted(list_committed(self._directory) - set(rows["hash"]))
        parts = [part for part in parts_of(self._directory) if part not in self._parts]
        self._parts |= set(parts)
        came = read_parts(parts, self._columns)
        kept, fresh = _read(self._directory, self._columns, names, came, are_unchanged=True)
        if self._columns.version is not None and fresh.height:
            keep_part(self._directory, fresh)
        return pl.concat([rows, kept, fresh]).sort("hash")


def _with_classes_of(rows: pl.DataFrame, directory: Path) -> pl.DataFrame:
    return with_classes(rows.drop(*SOURCE_COLUMNS), read_machines(directory))


def _whole_table(
    directory: Path, columns: Columns, processes: int = 1, *, are_unchanged: bool = False
) -> pl.DataFrame:
    names = sorted(list_committed(directory))
    known = read_kept(directory, columns)
    kept, fresh = _read(directory, columns, names, known, processes, are_unchanged=are_unchanged)
    table = pl.concat([kept, fresh]).sort("hash")
    is_new = fresh.height or known.height != table.height or has_parts(directory)
    if columns.version is not None and is_new:
        keep(directory, table)
    return table


def _read(
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
        stamps = stamps_of(trials, name)
        if are_unchanged and stamps == known_stamps:
            continue
        content = read_record_file(f"{trials}/{name}")
        digest = digest_of(content)
        if digest == known_digest and stamps[1] == known_stamps[1]:
            continue
        path = directory / TRIALS / name
        stored = StoredTrial(path, parse_record(content, name, path / RECORD_FILE))
        row = columns.row(stored.record, stored.frames)
        rows.append((*row, digest, *stamps, columns.version))
    return pl.DataFrame(rows, schema=columns.schema(), orient="row")
