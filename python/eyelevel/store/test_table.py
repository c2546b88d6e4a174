from eyelevel.store.directory import iterate_trials, write_trial
from eyelevel.store.sample import sample_record
from eyelevel.store.table import trials_table


def load_time(record, frames):
    return {"page_load_time_ms": record["navigation"]["page_load_time_ms"]}


def test_one_row_a_trial_with_its_metrics(tmp_path):
    write_trial(tmp_path, sample_record(arm="tcp", page_load_time_ms=1000.0))
    write_trial(tmp_path, sample_record(arm="quic", outcome="timeout", outcome_detail="180 s"))
    table = trials_table(iterate_trials(tmp_path), load_time, ["page_load_time_ms"])
    rows = {row["arm"]: row for row in table.iter_rows(named=True)}
    assert rows["tcp"]["page_load_time_ms"] == 1000.0
    assert rows["quic"]["page_load_time_ms"] is None
    assert rows["quic"]["outcome"] == "timeout"


def test_no_trials_make_an_empty_table_with_all_columns(tmp_path):
    table = trials_table(iterate_trials(tmp_path), load_time, ["page_load_time_ms"])
    assert table.height == 0 and "page_load_time_ms" in table.columns


def test_the_judged_outcome_replaces_the_records_own(tmp_path):
    record = sample_record()
    write_trial(tmp_path, record)
    judged = {record["trial"]["hash"]: ("different-page", "unlike the others")}
    table = trials_table(iterate_trials(tmp_path), load_time, ["page_load_time_ms"], judged)
    row = table.row(0, named=True)
    assert row["outcome"] == "different-page" and row["outcome_detail"] == "unlike the others"
    assert row["page_load_time_ms"] is None
