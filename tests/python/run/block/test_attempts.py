import polars as pl
import pytest
from sample_record import sample_navigation, sample_record
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.load.trial import TrialResult
from eyelevel.report.sections.outcomes import outcomes_section
from eyelevel.run.block.attempts import with_retries
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import read_trial
from eyelevel.store.frames import Frames


def attempts(*outcomes):
    left = iter(outcomes)
    return lambda: TrialResult(
        sample_record(outcome=(name := next(left)), outcome_detail=f"because of {name}"),
        Frames.of([]),
    )


@pytest.mark.parametrize(
    ("outcomes", "retries", "final", "before"),
    [
        (["ok"], 1, "ok", []),
        (["browser-crashed", "ok"], 1, "ok", ["browser-crashed"]),
        (["browser-crashed", "lab-failed", "ok"], 1, "lab-failed", ["browser-crashed"]),
        (["capture-incomplete", "lab-failed", "ok"], 2, "ok", ["capture-incomplete", "lab-failed"]),
        (["browser-crashed"], 0, "browser-crashed", []),
        (["starved"], 3, "starved", []),  # nor is what the machine did a load's own matter
        (["timeout"], 3, "timeout", []),  # a result of the stack is never run again
        (["wrong-stack"], 3, "wrong-stack", []),
    ],
)
def test_the_instruments_failures_are_retried_and_told(outcomes, retries, final, before, tmp_path):
    record = with_retries(attempts(*outcomes), retries).record
    assert record["outcome"] == final
    assert [each["outcome"] for each in record.get("retried", [])] == before
    write_trial(tmp_path, record)
    assert read_trial(tmp_path, record["trial"]["hash"]).record == record


@pytest.mark.parametrize("outcome", ["capture-incomplete", "lab-failed", "late-packets", "starved"])
def test_the_first_attempt_that_loaded_is_the_trials_whatever_was_wrong(outcome):
    """A second one would be made at another moment than the rest of the block."""
    loaded = sample_record(outcome=outcome) | {"navigation": sample_navigation(900.0)}
    left = iter([loaded, sample_record()])
    result = with_retries(lambda: TrialResult(next(left), Frames.of([])), retries=3)
    assert result.record["outcome"] == outcome and "retried" not in result.record


def test_what_a_failed_attempt_observed_is_kept():
    failed = sample_record(outcome="capture-incomplete")
    failed["navigation"] = sample_navigation(None)
    left = iter([failed, sample_record()])
    (kept,) = with_retries(lambda: TrialResult(next(left), Frames.of([])), 1).record["retried"]
    assert kept["navigation"] == failed["navigation"] and kept["host"] == failed["host"]


def test_attempts_that_failed_count_in_the_report(tmp_path):
    import synthetic_run

    made = synthetic_run.record_of

    def record_of(trial, load_ms, outcome="ok"):
        record = made(trial, load_ms, outcome)
        if trial.stack == "quic":
            record["retried"] = [{"outcome": "starved", "outcome_detail": "late packets"}]
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic_run, "record_of", record_of)
        write_run(tmp_path)
    results = read_results(tmp_path, metrics_of)
    assert results.table.filter(pl.col("retried") > 0)["stack"].unique().to_list() == ["quic"]
    # Every load of one stack failed once: no chance, though each ended well.
    assert results.failure_rates.p < 0.001
    section = outcomes_section(results)
    assert "(retried)" in section
    # Each is listed with its reason, like a load that stayed out.
    assert section.count("<td>late packets</td>") == results.table["retried"].sum() > 0
