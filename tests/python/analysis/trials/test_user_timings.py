"""A page's own marks and measures, from the record to a column, a gain and a gate."""

import re

import polars as pl
import pytest
from sample_record import sample_record
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.gate import GateError, evaluate, parse_condition
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME, PRIMARY_METRICS
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.analysis.trials.user_timings import NAMES_MAX, timings_of, with_user_timings
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.user_timings import is_user_timing
from eyelevel.report.page import page, summary_of
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import iterate_trials
from eyelevel.store.schema import RECORD

TEXT = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 8
primary_metric = "mark:hero"
"""


def table(*timings):
    rows = []
    for repetition, of_load in enumerate(timings, start=1):
        record = sample_record(repetition=repetition)
        if of_load is not None:
            record["navigation"]["user_timings"] = of_load
        rows.append(facts_of(RECORD.validate_python(record)))
    return pl.DataFrame(rows, schema=TRIAL_COLUMNS | FACT_COLUMNS, orient="row")


def test_each_name_has_a_column_with_its_unit():
    loads = table({"mark:hero": 120.5, "measure:a b": 3.0}, {"mark:hero": 130.0}, {}, None)
    found = with_user_timings(loads, "speed_index_ms")
    assert timings_of(found) == ["mark:hero_ms", "measure:a b_ms"]
    assert found["mark:hero_ms"].to_list() == [120.5, 130.0, None, None]
    assert found["measure:a b_ms"].to_list() == [3.0, None, None, None]


def test_the_names_of_most_loads_are_kept_and_the_primary_one_always():
    many = {f"mark:{number:03}": 1.0 for number in range(NAMES_MAX + 5)}
    found = timings_of(with_user_timings(table(many, {"mark:024": 2.0}), "mark:absent_ms"))
    assert len(found) == NAMES_MAX + 1
    assert found[0] == "mark:024_ms" and found[-1] == "mark:absent_ms"
    assert found[1:-1] == [f"mark:{number:03}_ms" for number in range(NAMES_MAX - 1)]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A run whose page has its mark at half of the load time, and a measure of 7 ms."""
    made, target = (tmp_path_factory.mktemp(name) for name in ("made", "run"))
    write_run(made, text=TEXT)
    for name in ("plan.json", "environment.json"):
        (target / name).write_bytes((made / name).read_bytes())
    for trial in iterate_trials(made):
        record = trial.record
        load_ms = record["navigation"]["page_load_time_ms"]
        timings = {"mark:hero": load_ms / 2, "measure:render": 7.0}
        write_trial(
            target,
            record | {"navigation": record["navigation"] | {"user_timings": timings}},
            trial.frames(),
        )
    return read_results(target, metrics_of)


def test_a_mark_is_a_primary_metric_and_in_the_report(results):
    assert results.primary_metric == "mark:hero_ms" and title_of("mark:hero_ms") == "mark:hero"
    gains = {gain.metric: gain for gain in results.gains}
    assert gains["mark:hero_ms"].gain.value == pytest.approx(gains["page_load_time_ms"].gain.value)
    assert gains["measure:render_ms"].difference.value == 0
    (row,) = [each for each in summary_of(results)["gains"] if each["metric"] == "mark:hero_ms"]
    assert row["verdict"] == "faster"
    assert "mark:hero of 1 site" in re.sub(r"\s+", " ", page(results))


def read(text):
    return parse_condition(text, ["tcp", "quic"], list(METRICS_BY_NAME), ["dsl"])


def test_a_gate_asks_about_a_mark_by_its_name(results):
    conditions = [
        read("quic.mark:hero worse than tcp by 5%"),
        read("quic.mark:hero.p50 above 1 ms"),
        read("quic.mark:none worse than tcp by 5%"),
    ]
    assert [each.metric for each in conditions] == ["mark:hero_ms"] * 2 + ["mark:none_ms"]
    assert conditions[1].quantile == 0.5
    found = evaluate(conditions, results)
    assert [each.status for each in found] == ["passed", "failed", "inconclusive"]
    with pytest.raises(GateError, match="unknown metric"):
        read("quic.marks worse than tcp by 5%")


def test_a_plan_names_a_mark_with_or_without_its_unit():
    for name in ("mark:hero", "mark:hero_ms", "measure:a.b c"):
        text = TEXT.replace("mark:hero", name)
        plan = parse_plan(text, "plan.toml", metric_names=PRIMARY_METRICS)
        assert plan.primary_metric == name.removesuffix("_ms") + "_ms"
    assert not is_user_timing("mark:") and not is_user_timing("bookmark:x")


def test_a_record_without_timings_is_still_one():
    record = sample_record()
    assert "user_timings" not in record["navigation"]
    assert facts_of(RECORD.validate_python(record))
