"""When a study stops, and what it says, depends on its records alone."""

import json
import os
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from itertools import count
from types import SimpleNamespace

import pytest
import synthetic_study
from synthetic_study import TEXT, SyntheticStudy

from eyelevel.report.first_screen.opening import answers, warnings
from eyelevel.run.study import loop, progress
from eyelevel.run.study.stopping import Budget
from eyelevel.store.directory import STOP_FILE, list_committed


def stop_of(directory):
    return (directory / STOP_FILE).read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A study that was run at once, its result and its progress."""
    directory, study, seen = tmp_path_factory.mktemp("whole"), SyntheticStudy(), []
    result = study.run(directory, lambda now: seen.append((now.done, now.total, now.left_s)))
    return SimpleNamespace(directory=directory, study=study, result=result, seen=seen)


def test_a_networks_loads_end_when_its_comparisons_are_decided(whole):
    stop = json.loads(stop_of(whole.directory))
    ends = stop["networks"]
    assert 6 <= ends["dsl"] < ends["lte"] <= stop["repetition"] < 40
    assert [(each["state"], each["repetition"]) for each in stop["comparisons"]] == [
        ("clear sign", ends["dsl"]),
        ("clear sign", ends["lte"]),
    ]
    loaded = {(trial.network, trial.repetition) for trial in whole.study.loaded}
    assert loaded == {(name, n) for name, end in ends.items() for n in range(1, end + 1)}
    assert whole.result.stopped == stop["reason"]
    assert f"quic against tcp on dsl after {ends['dsl']}, quic against tcp on lte" in stop["reason"]


BLOCK_S = 10.0
FIXED = TEXT.partition("[stop]")[0]


@pytest.mark.parametrize(("limit_s", "repetitions"), [(69.0, 6), (70.0, 7), (5.0, 1)])
def test_no_block_begins_that_would_end_after_the_budget(limit_s, repetitions, tmp_path):
    study = SyntheticStudy()
    now_s = iter(count(0.0, BLOCK_S)).__next__  # a question after each repetition
    result = study.run(tmp_path, budget=Budget(limit_s, now_s))
    assert max(trial.repetition for trial in study.loaded) == repetitions
    stop = json.loads(stop_of(tmp_path))
    assert set(stop["networks"].values()) == {repetitions} and stop["repetition"] == repetitions
    assert f"the time budget ended the loads after {repetitions} of 40 blocks" in result.stopped
    results = study.results(tmp_path)
    assert results.unfinished == "" and results.trials_planned == len(study.loaded)
    assert "the time budget ended" in dict(warnings(results))["The study stopped early."]


def test_a_resumed_run_has_a_budget_of_its_own_and_ends_like_one_without(whole, tmp_path):
    study = SyntheticStudy()
    study.run(tmp_path, budget=Budget(35.0, iter(count(0.0, BLOCK_S)).__next__))
    assert len(study.loaded) == 3 * 4
    study.run(tmp_path, budget=Budget(25.0, iter(count(0.0, BLOCK_S)).__next__))
    assert len(study.loaded) == 5 * 4
    study.run(tmp_path)
    assert stop_of(tmp_path) == stop_of(whole.directory)


def test_where_nothing_is_decided_nothing_is_left_of_an_earlier_budget(tmp_path):
    study = SyntheticStudy(TEXT.replace("blocks = 40", "blocks = 6"))
    study.run(tmp_path, budget=Budget(35.0, iter(count(0.0, BLOCK_S)).__next__))
    assert stop_of(tmp_path)
    study.run(tmp_path)
    assert len(study.loaded) == 6 * 4 and not (tmp_path / STOP_FILE).exists()


def test_totals_and_the_time_left_are_of_what_is_still_to_come(whole):
    loads = len(whole.study.loaded)
    assert (whole.result.done, whole.result.total) == (loads, loads)
    assert whole.seen[0][1] == 160 and whole.seen[-1][:2] == (loads, loads)
    assert whole.seen[-1][2] == 0.0
    assert all(done <= total for done, total, _ in whole.seen)


def test_the_report_has_each_comparison_as_its_last_look_saw_it(whole):
    results = whole.study.results(whole.directory)
    stop = json.loads(stop_of(whole.directory))
    assert results.table.height == results.trials_planned == len(whole.study.loaded)
    assert results.foreign == 0
    gains = {gain.network: gain for gain in results.gains if gain.metric == "speed_index_ms"}
    for each in stop["comparisons"]:
        gain = gains[each["network"]]
        assert gain.gain.n == each["repetition"] == gain.slow_loads.pairs
        assert gain.gain.high - gain.gain.low == each["width"]
    found = dict(warnings(results))
    assert found["The study stopped early."].startswith(stop["reason"])
    assert "The run is not complete." not in found and "Undecided." not in found
    assert answers(results)[0].head == "On dsl, quic was faster than tcp"


def test_a_report_that_differs_from_the_look_that_stopped_the_run_says_so(whole, tmp_path):
    """As where a third machine shows later that one of the two before is the odd one."""
    head = "The study was stopped by other numbers than these."
    assert head not in dict(warnings(whole.study.results(whole.directory)))
    shutil.copytree(whole.directory, tmp_path / "run")
    stop = json.loads(stop_of(whole.directory))
    stop["comparisons"][0]["width"] *= 1.2
    (tmp_path / "run" / STOP_FILE).write_text(json.dumps(stop))
    text = dict(warnings(whole.study.results(tmp_path / "run")))[head]
    assert text.startswith("quic against tcp on dsl was decided with an interval")
    assert "on lte" not in text and "a machine was found to differ later" in text


def test_a_run_that_is_broken_off_again_and_again_says_the_same(whole, tmp_path):
    study = SyntheticStudy()

    def interrupt_often(now):
        if now.done % 9 == 3 and now.trial is not None and not now.ending:
            os.kill(os.getpid(), signal.SIGINT)

    runs = 0
    while study.run(tmp_path, interrupt_often).interrupted:
        runs += 1
    assert runs > 5
    assert stop_of(tmp_path) == stop_of(whole.directory)
    assert {each.hash for each in study.loaded} == {each.hash for each in whole.study.loaded}


def test_looks_that_come_late_are_taken_in_their_order_and_what_lies_beyond_does_not_count(
    whole, tmp_path
):
    study = SyntheticStudy()
    for trial in study.trials(tmp_path):  # all 40 blocks, by somebody who never looked
        study.commit(trial, "", tmp_path)
    result = study.run(tmp_path)
    assert stop_of(tmp_path) == stop_of(whole.directory)
    assert (result.done, result.total) == (whole.result.done, whole.result.total)
    results, expected = (
        each.results(where) for each, where in ((study, tmp_path), (whole.study, whole.directory))
    )
    assert results.table.height == expected.table.height < len(list_committed(tmp_path)) == 160
    assert results.foreign == 0 and results.gains == expected.gains


def test_what_is_said_of_an_open_comparison_is_the_same_whenever_one_looks(tmp_path):
    late_once = {("startup/dsl/3", "quic"): "timeout"}  # dsl stays open
    now, late = SyntheticStudy(outcomes=late_once), SyntheticStudy(outcomes=late_once)
    now.run(tmp_path / "now")
    for trial in late.trials(tmp_path / "late"):
        late.commit(trial, "", tmp_path / "late")
    late.run(tmp_path / "late")
    assert stop_of(tmp_path / "now") == stop_of(tmp_path / "late")
    (dsl, lte) = json.loads(stop_of(tmp_path / "now"))["comparisons"]
    assert (dsl["state"], dsl["width"], dsl["repetition"]) == ("open", None, None)
    assert lte["width"] > 0


class BusierLater(SyntheticStudy):
    """A block of the beginning is starved, and later on every fourth repetition."""

    def foreign(self, trial):
        first = trial.repetition == 3 and trial.stack == "quic"
        return 0.6 if first or (trial.repetition > 12 and trial.repetition % 4 == 0) else 0.0


def test_each_look_judges_the_loads_by_those_up_to_it(tmp_path, monkeypatch):
    monkeypatch.setitem(synthetic_study.NOISE, "lte", 0.2)  # so that it takes more than 12
    now, late = BusierLater(), BusierLater()
    now.run(tmp_path / "now")
    for trial in late.trials(tmp_path / "late"):
        late.commit(trial, "", tmp_path / "late")
    late.run(tmp_path / "late")
    assert stop_of(tmp_path / "now") == stop_of(tmp_path / "late")
    ends = json.loads(stop_of(tmp_path / "now"))["networks"]
    assert ends["dsl"] < 12 < ends["lte"]
    found, again = (
        each.results(tmp_path / where) for each, where in ((now, "now"), (late, "late"))
    )
    assert found.gains == again.gains
    counts = {g.network: g.gain.n for g in found.gains if g.metric == "speed_index_ms"}
    assert counts["dsl"] == ends["dsl"] - 1


@pytest.mark.parametrize("step_s", [0, 3600])
def test_labs_side_by_side_and_how_fast_the_machine_is_change_nothing(
    whole, tmp_path, monkeypatch, step_s
):
    @contextmanager
    def threads(sets):
        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
            yield [one, other]

    monkeypatch.setattr(loop, "worker_processes", threads)
    monkeypatch.setattr(loop, "claim_core_sets", lambda jobs: nullcontext([frozenset({0})] * jobs))
    clock = count(0, step_s)
    paced = SimpleNamespace(monotonic=lambda: float(next(clock)))
    monkeypatch.setattr(loop, "time", paced)
    monkeypatch.setattr(progress, "time", paced)
    monkeypatch.setattr(time, "monotonic", paced.monotonic)
    study = SyntheticStudy()
    result = study.run(tmp_path, execution=loop.Execution(jobs=2))
    assert stop_of(tmp_path) == stop_of(whole.directory)
    # What had begun beyond the stop is kept and not counted, however far one slot was ahead.
    hashes, expected = ({each.hash for each in made.loaded} for made in (study, whole.study))
    ends = json.loads(stop_of(tmp_path))["networks"]
    beyond = [each for each in study.loaded if each.hash not in expected]
    assert expected <= hashes and all(each.repetition > ends[each.network] for each in beyond)
    assert (result.done, result.total) == (whole.result.done, whole.result.total)
    found, counted = study.results(tmp_path), whole.study.results(whole.directory)
    assert found.gains == counted.gains and found.table.height == counted.table.height


def test_a_timeout_ends_no_network(tmp_path):
    study = SyntheticStudy(outcomes={("startup/dsl/3", "quic"): "timeout"})
    study.run(tmp_path)
    stop = json.loads(stop_of(tmp_path))
    assert list(stop["networks"]) == ["lte"] and stop["repetition"] is None
    assert {each["network"]: each["state"] for each in stop["comparisons"]}["dsl"] == "open"
    results = study.results(tmp_path)
    found = dict(warnings(results))
    assert "Part of the study stopped early." in found
    assert "The run is not complete." not in found
    assert results.trials_planned == 2 * (40 + stop["networks"]["lte"])


def test_a_comparison_that_is_decided_before_its_network_keeps_its_own_blocks(tmp_path):
    text = TEXT.replace('stacks = ["tcp", "quic"]', 'stacks = ["tcp", "quic", "tcp+"]')
    study = SyntheticStudy(text)
    study.run(tmp_path)
    stop = json.loads(stop_of(tmp_path))
    since = {(each["network"], each["stack"]): each["repetition"] for each in stop["comparisons"]}
    ends = stop["networks"]
    assert since["dsl", "quic"] < since["dsl", "tcp+"] == ends["dsl"]
    gains = study.results(tmp_path).gains
    counts = {
        gain.stack: gain.gain.n
        for gain in gains
        if (gain.network, gain.metric) == ("dsl", "speed_index_ms")
    }
    assert counts == {"quic": since["dsl", "quic"], "tcp+": ends["dsl"]}


def test_one_stack_has_nothing_to_decide(tmp_path):
    text = TEXT.replace('stacks = ["tcp", "quic"]', 'stacks = ["tcp"]')
    result = SyntheticStudy(text.replace("blocks = 40", "blocks = 8")).run(tmp_path)
    assert (result.done, result.total, result.stopped) == (16, 16, "")


def test_a_study_in_which_nothing_is_decided_has_no_file(tmp_path):
    study = SyntheticStudy(TEXT.replace("blocks = 40", "blocks = 6"))
    assert study.run(tmp_path).stopped == "" and not (tmp_path / STOP_FILE).exists()
    assert study.results(tmp_path).stopped is None


def test_time_ends_a_study_with_a_fixed_number_of_blocks(tmp_path):
    study = SyntheticStudy(FIXED)
    now_s = iter(count(0.0, BLOCK_S)).__next__
    result = study.run(tmp_path, budget=Budget(45.0, now_s))
    assert max(trial.repetition for trial in study.loaded) == 4
    assert result.stopped == "the time budget ended the loads after 4 of 40 blocks"
    results = study.results(tmp_path)
    assert not results.unfinished
    text = dict(warnings(results))["The study stopped early."]
    assert text.endswith("The end did not depend on the results, so the intervals hold.")


def test_study_within_its_time_is_whole(tmp_path):
    study = SyntheticStudy(FIXED)
    study.run(tmp_path, budget=Budget(1e6))
    assert max(trial.repetition for trial in study.loaded) == 40
    assert not (tmp_path / STOP_FILE).exists()
