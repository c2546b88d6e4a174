"""The files of a run's directory, each checked when it is read."""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import polars as pl

from eyelevel.analysis.decisions import STOP_VERSION, judge_prefix
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, measure
from eyelevel.analysis.trials.facts import Columns, Measure
from eyelevel.analysis.trials.table import GrowingTable, trials_table
from eyelevel.analysis.trials.user_timings import with_user_timings
from eyelevel.base.errors import PlanError, StoreError
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.plan_json import StoredPlan, parse_plan_document
from eyelevel.plan.user_timings import is_user_timing
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    PLAN_FILE,
    STOP_FILE,
    STOPPED,
    check_document,
    read_document,
)
from eyelevel.store.environment import ENVIRONMENT


def check_run(directory: Path) -> None:
    """Raise StoreError if there is no run in `directory`."""
    if not (directory / PLAN_FILE).exists():
        raise StoreError(
            f"reading {directory}: there is no run, since it has no {PLAN_FILE}; "
            "give what `run --out` wrote"
        )


def read_stored_plan(directory: Path) -> StoredPlan:
    """Return the plan of a run, by `parse_stored_plan`.

    Raises StoreError if it is absent or damaged, PlanError if another version of eyelevel wrote it.
    """
    check_run(directory)
    return parse_stored_plan(read_document(directory, PLAN_FILE), str(directory / PLAN_FILE))


def parse_stored_plan(document: JsonMapping, source: str) -> StoredPlan:
    """Return the plan of a `plan.json`; `source` names it in messages.

    Raises PlanError for a setting or metric that this version does not have.
    """
    stored = parse_plan_document(document, source=source)
    metric = stored.plan.primary_metric
    if metric not in METRICS_BY_NAME and not is_user_timing(metric):
        raise PlanError(
            [
                f"{source}: its metric `{excerpt(metric)}` is not known here; "
                "use the eyelevel that wrote it"
            ]
        )
    return stored


def read_facts(
    directory: Path,
    stored: StoredPlan,
    measured_by: Measure = measure,
    processes: int = 1,
) -> tuple[int, pl.DataFrame]:
    """Return the number of records, and the table of the plan's trials with recorded outcomes.

    The table is cached in the run's directory if its metrics are those of
    `eyelevel.analysis.metrics`. Raises StoreError for a damaged record.
    """
    columns = list_kept_columns() if measured_by is measure else columns_of(measured_by)
    every = trials_table(directory, columns, processes)
    height, every = every.height, with_user_timings(every, stored.plan.primary_metric)
    return height, every.join(
        list_planned_hashes(stored), on="hash", how="semi", maintain_order="left"
    )


class GrowingFacts:
    """The facts of a running study, for repeated reading."""

    def __init__(self, directory: Path, stored: StoredPlan, measured_by: Measure = measure) -> None:
        columns = list_kept_columns() if measured_by is measure else columns_of(measured_by)
        self._table = GrowingTable(directory, columns)
        self._planned = list_planned_hashes(stored)
        self._primary_metric = stored.plan.primary_metric

    def read(self) -> pl.DataFrame:
        """Return the present table of the plan's trials with recorded outcomes."""
        table = with_user_timings(self._table.read(), self._primary_metric)
        return table.join(self._planned, on="hash", how="semi", maintain_order="left")


def list_kept_columns() -> Columns:
    """Return the columns of a run's cached rows, with this code's version."""
    return columns_of(measure, code_version())


def columns_of(measured_by: Measure, version: str | None = None) -> Columns:
    """Return the columns with all metrics, measured by `measured_by`."""
    return Columns(tuple(METRICS_BY_NAME), measured_by, version)


def read_table(directory: Path, stored: StoredPlan) -> pl.DataFrame:
    """Return the table of the plan's trials with outcomes after post-hoc exclusions."""
    return judge_prefix(read_facts(directory, stored)[1], stored.plan.primary_metric)


ROW_CODE = ("eyelevel.analysis.trials", "eyelevel.analysis.metrics", "eyelevel.store")
"""The packages that turn a record into a row."""


@cache
def code_version() -> str:
    """Return a hash of ROW_CODE with its subpackages; rows cached by other code are not used."""
    return hash_of_code([files(package) for package in ROW_CODE])


def hash_of_code(folders: Iterable[Traversable]) -> str:
    """Return a hash of all Python files in `folders` and below, by path and content."""
    digest = hashlib.sha256()
    for folder in folders:
        for path, file in _python_files(folder, folder.name):
            digest.update(path.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _python_files(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda each: each.name):
        if each.is_dir():
            yield from _python_files(each, f"{path}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{path}/{each.name}", each


def list_planned_hashes(stored: StoredPlan) -> pl.DataFrame:
    """Return the hashes of the plan's trials as one column, `hash`, to join with."""
    return pl.DataFrame({"hash": [trial.hash for trial in stored.trials]})


def read_stopped(directory: Path) -> JsonMapping | None:
    """Return the checked `stop.json`; None if nothing was decided early.

    Raises StoreError if it is damaged or of another version.
    """
    if not (directory / STOP_FILE).exists():
        return None
    return check_stopped(read_document(directory, STOP_FILE), directory / STOP_FILE)


def check_stopped(stopped: JsonMapping, file: Path | str) -> JsonMapping:
    """Check a `stop.json` that was read from `file`, and return it.

    Raises StoreError if it is damaged or of another version.
    """
    if (version := stopped.get("version")) != STOP_VERSION:
        raise StoreError(
            f"reading {file}: version {excerpt(version)}, but this "
            f"eyelevel reads version {STOP_VERSION}; use the eyelevel that wrote it"
        )
    check_document(STOPPED, stopped, file)
    return stopped


def read_environment(directory: Path) -> JsonMapping:
    """Return the checked `environment.json`. Raises StoreError if it is absent or damaged."""
    if not (directory / ENVIRONMENT_FILE).exists():
        raise StoreError(
            f"reading {directory}: it has no {ENVIRONMENT_FILE}, so what it ran on is unknown; "
            "give the directory that `eyelevel run` wrote"
        )
    file = directory / ENVIRONMENT_FILE
    return check_environment(read_document(directory, ENVIRONMENT_FILE), file)


def check_environment(environment: JsonMapping, file: Path | str) -> JsonMapping:
    """Check an `environment.json` that was read from `file`, and return it.

    Raises StoreError if it is damaged.
    """
    check_document(ENVIRONMENT, environment, file)
    return environment
