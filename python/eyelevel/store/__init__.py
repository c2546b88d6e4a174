"""The run record: its schema and version, its outcomes, how it is written and read."""

from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    LOGS,
    PLAN_FILE,
    STOP_FILE,
    TRIALS,
    StoredTrial,
    committed,
    has_record,
    iterate_trials,
    missing,
    read_document,
    read_trial,
    remove_leftovers,
    write_document,
    write_trial,
)
from eyelevel.store.errors import StoreError
from eyelevel.store.facts import NOT_RECORDED, TRIAL_COLUMNS
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.judgement import judge_table
from eyelevel.store.outcomes import OUTCOMES, OUTCOMES_BY_NAME, Outcome
from eyelevel.store.schema import RECORD_VERSION
from eyelevel.store.table import TABLE_FILE, Columns, MetricsOf, trials_table

__all__ = [
    "ENVIRONMENT_FILE",
    "LOGS",
    "NOT_RECORDED",
    "OUTCOMES",
    "OUTCOMES_BY_NAME",
    "PLAN_FILE",
    "RECORD_VERSION",
    "STOP_FILE",
    "TABLE_FILE",
    "TRIALS",
    "TRIAL_COLUMNS",
    "Columns",
    "Frame",
    "Frames",
    "MetricsOf",
    "Outcome",
    "StoreError",
    "StoredTrial",
    "committed",
    "has_record",
    "iterate_trials",
    "judge_table",
    "missing",
    "read_document",
    "read_trial",
    "remove_leftovers",
    "trials_table",
    "write_document",
    "write_trial",
]
