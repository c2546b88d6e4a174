import gzip
import json

import pytest
from sample_record import sample_record

from eyelevel.analysis.metrics.catalogue import Measured
from eyelevel.analysis.trials.facts import Columns
from eyelevel.analysis.trials.table import TABLE_FILE, trials_table
from eyelevel.base.errors import StoreError
from eyelevel.store.commit import write_trial

calls = []


def load_time(record, frames):
    calls.append(record["trial"]["hash"])
    return Measured({"page_load_time_ms": record["navigation"]["page_load_time_ms"]})


COLUMNS = Columns(("page_load_time_ms",), load_time)
KEPT = Columns(("page_load_time_ms",), load_time, "1")


def test_one_row_a_trial_with_its_metrics(tmp_path):
    write_trial(tmp_path, sample_record(stack="tcp", page_load_time_ms=1000.0))
    write_trial(tmp_path, sample_record(stack="quic", outcome="timeout", outcome_detail="180 s"))
    table = trials_table(tmp_path, COLUMNS)
    rows = {row["stack"]: row for row in table.iter_rows(named=True)}
    assert rows["tcp"]["page_load_time_ms"] == 1000.0
    assert rows["quic"]["page_load_time_ms"] is None
    assert rows["quic"]["outcome"] == "timeout"
    assert not (tmp_path / TABLE_FILE).exists()


def test_the_curve_of_a_load_is_kept_with_it(tmp_path):
    def measure(record, _):
        steps = {"tcp": ((0.0, 0.0), (500.25, 0.75), (900.5, 1.0)), "quic": ()}
        return Measured({}, steps[record["trial"]["stack"]])

    for stack in ("tcp", "quic"):
        write_trial(tmp_path, sample_record(stack=stack))
    for _ in range(2):
        table = trials_table(tmp_path, Columns((), measure, "1"))
        rows = {row["stack"]: row for row in table.iter_rows(named=True)}
        assert rows["tcp"]["progress_at_ms"] == [0.0, 500.25, 900.5]
        assert rows["tcp"]["progress_share"] == [0.0, 0.75, 1.0]
        assert rows["quic"]["progress_at_ms"] is rows["quic"]["progress_share"] is None


def test_no_trials_make_an_empty_table_with_all_columns(tmp_path):
    table = trials_table(tmp_path, COLUMNS)
    assert table.height == 0 and "page_load_time_ms" in table.columns


def test_a_kept_row_is_used_again_and_a_new_trial_is_added(tmp_path):
    write_trial(tmp_path, sample_record(stack="tcp"))
    first = trials_table(tmp_path, KEPT)
    calls.clear()
    assert trials_table(tmp_path, KEPT).equals(first) and calls == []
    added = sample_record(stack="quic")
    write_trial(tmp_path, added)
    assert trials_table(tmp_path, KEPT).height == 2 and calls == [added["trial"]["hash"]]


def test_other_code_computes_every_row_again(tmp_path):
    write_trial(tmp_path, sample_record())
    trials_table(tmp_path, KEPT)
    calls.clear()
    trials_table(tmp_path, Columns(KEPT.names, load_time, "2"))
    assert len(calls) == 1


def test_a_record_that_changed_under_a_kept_row_is_read_again(tmp_path):
    record = sample_record()
    write_trial(tmp_path, record)
    trials_table(tmp_path, KEPT)
    file = tmp_path / "trials" / record["trial"]["hash"] / "record.json.gz"
    record["navigation"]["page_load_time_ms"] = 1.0
    file.write_bytes(gzip.compress(json.dumps(record).encode()))
    assert trials_table(tmp_path, KEPT)["page_load_time_ms"].to_list() == [1.0]
    file.write_bytes(gzip.compress(b"{"))
    with pytest.raises(StoreError, match="not JSON"):
        trials_table(tmp_path, KEPT)


def test_frames_that_changed_make_the_row_again(tmp_path):
    record = sample_record(outcome="timeout")
    write_trial(tmp_path, record)
    first = trials_table(tmp_path, KEPT)
    (tmp_path / "trials" / record["trial"]["hash"] / "frames.npz").write_bytes(b"new")
    assert trials_table(tmp_path, KEPT).equals(first)


def test_a_damaged_table_is_made_again(tmp_path):
    write_trial(tmp_path, sample_record())
    first = trials_table(tmp_path, KEPT)
    (tmp_path / TABLE_FILE).write_bytes(b"PAR1 but no more")
    assert trials_table(tmp_path, KEPT).equals(first)


def test_a_trial_that_was_removed_is_in_no_table(tmp_path):
    write_trial(tmp_path, sample_record(stack="tcp"))
    trials_table(tmp_path, KEPT)
    (tmp_path / "trials").rename(tmp_path / "elsewhere")
    assert trials_table(tmp_path, KEPT).height == 0
