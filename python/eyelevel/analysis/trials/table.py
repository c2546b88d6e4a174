"""All trials of a run as one tidy table: one row a trial, one column a metric.

Computing metrics from frames is what takes time, so rows are kept beside the records
(`eyelevel.analysis.trials.kept_rows`).
"""

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import polars as pl

from eyelevel.analysis.trials.judgement import MACHINE_CLASS
from eyelevel.analysis.trials.kept_rows import has_parts, keep, read_kept, sources_of
from eyelevel.analysis.trials.rows import SOURCE_COLUMNS, Columns
from eyelevel.json_types import JsonMapping
from eyelevel.store.directory import (
    RECORD_FILE,
    TRIALS,
    StoredTrial,
    committed,
    parse_record,
    read_record_file,
)
from eyelevel.store.machines import read_machines

CHUNK_TRIALS = 2500  # bounds what a process holds at once


def trials_table(directory: Path, columns: Columns, processes: int = 1) -> pl.DataFrame:
    """The tidy table of all committed trials, in the order of their hashes, outcomes as recorded.

    A load that did not end has nulls in every metric column, a timed-out one included: what it
    showed until the limit is not how long the page takes. One that ended and failed a rule has its
    values, by which `eyelevel.analysis.gains.exclusions` says what the rule does. More than one of
    `processes` need a main module that can be imported, as `multiprocessing` says. Raises
    StoreError at a damaged record.
    """
    names = sorted(committed(directory))
    kept = read_kept(directory, columns)
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
    is_new = fresh.height or kept.height != table.height or has_parts(directory)
    if columns.version is not None and is_new:
        keep(directory, table)
    return with_classes(table.drop(*SOURCE_COLUMNS), read_machines(directory))


def with_classes(table: pl.DataFrame, machines: Mapping[str, JsonMapping]) -> pl.DataFrame:
    """With the column MACHINE_CLASS: which loads may be judged by each other, as all that have the
    same word. A machine that was refused after loads of its own is a class of its own, and so is
    one of which nothing is known; `machines`: their documents by ID."""
    known = {
        name: str(each["class"]) for name, each in machines.items() if each["class"] is not None
    }
    alone = pl.concat_str(pl.lit("machine "), "machine")
    words = pl.col("machine").replace_strict(known, default=alone, return_dtype=pl.String)
    return table.with_columns(words.fill_null("").alias(MACHINE_CLASS))


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
        digest, stamp = sources_of(directory, name, content)
        if known == digest + stamp:
            continue
        path = directory / TRIALS / name
        stored = StoredTrial(path, parse_record(content, name, path / RECORD_FILE))
        rows.append((*columns.row(stored.record, stored.frames), digest, stamp, columns.version))
    return pl.DataFrame(rows, schema=columns.schema(), orient="row")
