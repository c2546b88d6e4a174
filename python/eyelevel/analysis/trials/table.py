"""All trials of a run as one tidy table: one row a trial, one column a metric.

Computing metrics from frames is what takes time, so the table is kept as `trials.parquet` beside
the records. It is never trusted further than its inputs: a row is used again only while the SHA-256
of its record's bytes and the size and time of its frames file are the same, and none at all once
the code that computes it has changed. Deleting it costs time and nothing else.
"""

import contextlib
import hashlib
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.disk.whole import whole_file
from eyelevel.errors import OutsideError
from eyelevel.from_outside.limits import PARQUET
from eyelevel.from_outside.parquet import read_parquet
from eyelevel.from_outside.source import Source
from eyelevel.json_types import JsonMapping
from eyelevel.metrics.compute import Measured
from eyelevel.store.directory import (
    FRAMES_FILE,
    RECORD_FILE,
    TRIALS,
    StoredTrial,
    committed,
    parse_record,
    read_record_file,
)
from eyelevel.store.frames import Frames

TABLE_FILE = "trials.parquet"
CHUNK_TRIALS = 2500  # bounds what a process holds at once

Measure = Callable[[JsonMapping, Frames], Measured]

# Of the loads that ended `ok`: times, and from each on the share of the picture that is there.
PROGRESS_COLUMNS: dict[str, pl.DataType] = {
    "progress_at_ms": pl.List(pl.Float32()),
    "progress_share": pl.List(pl.Float32()),
}

# What a row was computed from.
_SOURCE_COLUMNS: dict[str, pl.DataType] = {
    "record_sha256": pl.String(),
    "frames_stamp": pl.String(),
    "computed_by": pl.String(),
}


@dataclass(frozen=True)
class Columns:
    """What is computed of each load that ended: the metrics' names, and what measures.

    `version` names the code that computes; None: nothing is kept and nothing kept is used.
    """

    names: tuple[str, ...]
    measure: Measure
    version: str | None = None

    def schema(self) -> dict[str, pl.DataType]:
        """Every column of the table."""
        metrics = {name: pl.Float64() for name in self.names}
        return TRIAL_COLUMNS | FACT_COLUMNS | metrics | PROGRESS_COLUMNS | _SOURCE_COLUMNS


def trials_table(directory: Path, columns: Columns, processes: int = 1) -> pl.DataFrame:
    """The tidy table of all committed trials, in the order of their hashes, outcomes as recorded.

    A load that did not end has nulls in every metric column, a timed-out one included: what it
    showed until the limit is not how long the page takes. One that ended and failed a rule has its
    values, by which `eyelevel.analysis.gains.exclusions` says what the rule does. More than one of
    `processes` need a main module that can be imported, as `multiprocessing` says. Raises
    StoreError at a damaged record.
    """
    names = sorted(committed(directory))
    kept = _kept(directory, columns)
    known = dict(kept.select("hash", pl.concat_str("record_sha256", "frames_stamp")).iter_rows())
    work = [
        (
            directory,
            columns,
            [(name, known.get(name)) for name in names[start : start + CHUNK_TRIALS]],
        )
        for start in range(0, len(names), CHUNK_TRIALS)
    ]
    parts = list(_mapped(work, min(processes, len(work))))
    fresh = pl.concat([pl.DataFrame(schema=columns.schema()), *parts])
    unchanged = set(names) - set(fresh["hash"])
    table = pl.concat([kept.filter(pl.col("hash").is_in(list(unchanged))), fresh]).sort("hash")
    if columns.version is not None and (fresh.height or kept.height != table.height):
        _keep(directory, table)
    return table.drop(*_SOURCE_COLUMNS)


_Work = tuple[Path, Columns, list[tuple[str, str | None]]]


def _mapped(work: Sequence[_Work], processes: int) -> Iterator[pl.DataFrame]:
    if processes < 2:
        yield from map(_rows, work)
        return
    # Not forked: Polars' threads do not survive that.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        yield from pool.map(_rows, work)


def _rows(work: _Work) -> pl.DataFrame:
    """The rows of those trials whose stamp differs from the known one."""
    directory, columns, wanted = work
    trials = os.fspath(directory / TRIALS)
    rows = []
    for name, known in wanted:
        content = read_record_file(f"{trials}/{name}")
        digest, stamp = (
            hashlib.sha256(content).hexdigest(),
            _stamp(f"{trials}/{name}/{FRAMES_FILE}"),
        )
        if known == digest + stamp:
            continue
        path = directory / TRIALS / name
        record = parse_record(content, name, path / RECORD_FILE)
        found = Measured({})
        if _ended(record):
            found = columns.measure(record, StoredTrial(path, record).frames())
        metrics = (found.metrics.get(name) for name in columns.names)
        progress = zip(*found.progress, strict=True) if found.progress else (None, None)
        source = (digest, stamp, columns.version)
        rows.append((*facts_of(record), *metrics, *progress, *source))
    return pl.DataFrame(rows, schema=columns.schema(), orient="row")


def _ended(record: JsonMapping) -> bool:
    """Whether the page came, so that the load has values, be it counted or not."""
    outcome, navigation = record["outcome"], record["navigation"]
    if outcome in ("ok", "timeout"):
        return bool(outcome == "ok")
    return navigation is not None and navigation["page_load_time_ms"] is not None


def _stamp(file: str) -> str:
    """What changes when a file does."""
    try:
        status = os.stat(file)  # noqa: PTH116
    except FileNotFoundError:
        return "none"
    return f"{status.st_size}.{status.st_mtime_ns}"


def _kept(directory: Path, columns: Columns) -> pl.DataFrame:
    """The rows that were kept by this very code; none where it was another's or is damaged."""
    empty = pl.DataFrame(schema=columns.schema())
    if columns.version is None or not (directory / TABLE_FILE).exists():
        return empty
    file = directory / TABLE_FILE
    try:
        table = read_parquet(file, empty.columns, Source(str(file), PARQUET))
    except OutsideError:
        return empty
    if table.schema != empty.schema:
        return empty
    return table.filter(pl.col("computed_by") == columns.version)


def _keep(directory: Path, table: pl.DataFrame) -> None:
    # A directory that is read only can be read all the same.
    with contextlib.suppress(OSError), whole_file(directory / TABLE_FILE) as stream:
        table.write_parquet(stream)
