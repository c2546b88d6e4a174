"""The table of a run that goes on: equal to that of its records, each of which is read once."""

from collections import Counter
from dataclasses import replace

import pytest
from synthetic_run import TWO_STACKS, metrics_of, record_of, write_run

from eyelevel.analysis.run_files import columns_of, list_kept_columns
from eyelevel.analysis.trials import table
from eyelevel.analysis.trials.table import ROWS, TABLE_FILE, GrowingTable, RowParts, trials_table
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import RECORD_FILE, list_committed


@pytest.fixture
def growing(tmp_path, monkeypatch):
    """A table whose version keeps its rows, and how often each record was read by now."""
    read = Counter()
    read_record_file = table.read_record_file

    def counted(folder):
        read[str(folder).rpartition("/")[2]] += 1
        return read_record_file(folder)

    monkeypatch.setattr(table, "read_record_file", counted)
    columns = replace(columns_of(metrics_of), version=list_kept_columns().version)
    return GrowingTable(tmp_path, columns), columns, read


TRIALS = expand(
    parse_plan(TWO_STACKS, "plan"), [Site("startup", "sha256:a"), Site("dashboard", "sha256:b")]
)


def commit(directory, trials):
    for trial in trials:
        write_trial(directory, record_of(trial, 1000.0), [])


def test_it_is_the_table_of_all_records_each_of_which_was_read_once(tmp_path, growing):
    found, _, read = growing
    for first, last in ((0, 5), (5, 6), (6, 6), (6, 20)):
        commit(tmp_path, TRIALS[first:last])
        by_now = found.read()
        assert by_now.height == last
    assert set(read) == list_committed(tmp_path) and set(read.values()) == {1}
    assert by_now.equals(trials_table(tmp_path, columns_of(metrics_of)))


def test_what_it_computed_is_kept_for_the_report(tmp_path, growing):
    found, columns, _ = growing
    for first, last in ((0, 5), (5, 12)):
        commit(tmp_path, TRIALS[first:last])
        found.read()

    def nobody(record, frames):
        raise AssertionError("a row is computed again")

    assert (tmp_path / TABLE_FILE).exists() and list((tmp_path / ROWS).iterdir())
    assert trials_table(tmp_path, replace(columns, measure=nobody)).equals(found.read())
    assert not list((tmp_path / ROWS).iterdir())
    commit(tmp_path, TRIALS[12:13])
    assert found.read().height == 13, "that its parts went into the table changes nothing"


def test_rows_that_came_from_slots_are_taken_and_not_computed(tmp_path, growing):
    found, columns, read = growing
    commit(tmp_path, TRIALS[:2])
    found.read()
    read.clear()
    rows = RowParts(tmp_path, columns)
    for trial in TRIALS[2:6]:
        record = record_of(trial, 1000.0)
        write_trial(tmp_path, record, [])
        content = (tmp_path / "trials" / trial.hash / RECORD_FILE).read_bytes()
        rows.add(trial.hash, columns.row(record, list), content)
    rows.flush()

    def nobody(record, frames):
        raise AssertionError("a row is computed here")

    found._columns = replace(columns, measure=nobody)
    assert found.read().height == 6 and not read


def test_a_resumed_run_opens_no_record_whose_row_is_kept_and_its_report_all(tmp_path, growing):
    found, columns, read = growing
    commit(tmp_path, TRIALS[:6])
    kept = trials_table(tmp_path, columns)
    read.clear()
    assert found.read().equals(kept) and not read
    # What is not as it was is read, and those alone.
    changed = tmp_path / "trials" / TRIALS[3].hash / RECORD_FILE
    changed.touch()
    assert GrowingTable(tmp_path, columns).read().equals(kept) and set(read) == {TRIALS[3].hash}
    read.clear()
    assert trials_table(tmp_path, columns).equals(kept) and set(read) == list_committed(tmp_path)


def test_of_a_directory_that_is_read_only_it_reads_all_the_same(tmp_path, growing, monkeypatch):
    write_run(tmp_path, text=TWO_STACKS)
    found, _, _ = growing

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("eyelevel.analysis.trials.table._write", refuse)
    assert found.read().height == len(list_committed(tmp_path))
