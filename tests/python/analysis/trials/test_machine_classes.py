"""Loads are judged by loads of machines that are like theirs, and blocks are on one machine."""

from itertools import count

import polars as pl
import pytest
from sample_record import sample_record
from synthetic_fleet import Placed, fleet_run, write_machine_document
from synthetic_run import TWO_STACKS, metrics_of, read_run

from eyelevel.analysis.gains.exclusions import restore_excluded
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.blocks import ALONE
from eyelevel.analysis.trials.facts import FACT_COLUMNS, TRIAL_COLUMNS, facts_of
from eyelevel.analysis.trials.post_hoc_exclusions import MACHINE_CLASS, judge_table
from eyelevel.analysis.trials.table import with_classes


class Split(Placed):
    """`quic` of one block is on another machine than `tcp`."""

    def __call__(self, trial):
        host, factor = super().__call__(trial)
        if (trial.block, trial.stack) == ("startup/dsl/2", "quic"):
            host = {"machine": "z", "slot": 1}
        if (trial.block, trial.stack) == ("startup/dsl/3", "quic"):
            host = {}
        return host, factor


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), None, TWO_STACKS, 0.03, Split(("a",)))


def test_a_block_on_two_machines_is_excluded_with_that_reason(split):
    reasons = {block.block: block.reason for block in split.blocks.excluded}
    assert reasons == {
        "startup/dsl/2": "loaded on two machines: a and z",
        "startup/dsl/3": f"loaded on two machines: a and {ALONE}",
    }
    assert not set(reasons) & set(split.blocks.kept["block"])


def test_it_is_no_failure_whose_effect_is_shown(split):
    assert split.exclusions == ()
    every = restore_excluded(split.table, split.primary_metric)
    assert set(split.table["block"]) - set(every["block"]) == {"startup/dsl/2", "startup/dsl/3"}


def facts(of_machines):
    """One load of a page each: {machine: gaps of the page's timer, in ms}."""
    numbers, rows = count(), []
    for machine, gaps_ms in of_machines.items():
        for gap_ms in gaps_ms:
            record = sample_record()
            gaps = {"timer_gaps_ms": [[300.0, gap_ms]], "long_tasks_ms": []}
            record["navigation"] = {**record["navigation"], **gaps}
            record["host"] = dict(record["host"])
            if machine:
                record["host"]["machine"] = machine
            record["trial"] = {
                **record["trial"], "hash": f"{next(numbers):064}", "block": f"x/dsl/{len(rows)}",
            }  # fmt: skip
            rows.append(facts_of(record))
    return pl.DataFrame(rows, schema=TRIAL_COLUMNS | FACT_COLUMNS, orient="row")


CALM, BUSY = [50.0] * 6, [500.0] * 6
STOPPED = "capture-incomplete"


@pytest.mark.parametrize(
    ("classes", "stopped"),
    [
        ({"a": 1, "b": 1}, 6),
        ({"a": 1, "b": 2}, 0),
        ({"a": 1}, 0),
        ({}, 0),
        ({"a": 1, "b": None}, 0),
    ],
)
def test_a_load_is_judged_by_the_loads_of_its_class_alone(classes, stopped):
    documents = {name: {"class": number} for name, number in classes.items()}
    table = judge_table(with_classes(facts({"a": [*CALM, 50.0], "b": BUSY}), documents))
    assert table.filter(outcome=STOPPED).height == stopped


def test_loads_without_a_machine_are_a_class_of_their_own():
    table = judge_table(with_classes(facts({"": [*CALM, 50.0], "b": BUSY}), {"b": {"class": 1}}))
    assert set(table[MACHINE_CLASS]) == {"", "1"} and not table.filter(outcome=STOPPED).height


def test_a_machine_that_was_refused_after_loads_is_a_class_of_its_own(tmp_path):
    results = fleet_run(tmp_path, ("a", "b", "c"), blocks=3)
    assert set(results.table[MACHINE_CLASS]) == {"1"}
    reason = "its page load time is +9.0% off the fleet's median"
    write_machine_document(tmp_path, "b", **{"class": None, "reason": reason})
    again = read_results(tmp_path, metrics_of)
    of_class = dict(again.table.select("machine", MACHINE_CLASS).unique().iter_rows())
    assert of_class == {"a": "1", "b": "machine b", "c": "1"}
    assert {row.machine: row.reason for row in again.machines} == {"a": "", "b": reason, "c": ""}
