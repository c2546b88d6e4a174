import os

import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.run.study.cores import Processors
from eyelevel.run.study.jobs import JobsError, core_sets, lanes, run_blocks

PLAN = """sites = ["a", "b"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""
TRIALS = expand(parse_plan(PLAN, "plan"), [Site("a", "sha256:a"), Site("b", "sha256:b")])


def processors(*cores, quota=None):
    return Processors(tuple(map(frozenset, cores)), quota)


def test_every_lab_has_two_cores_of_its_own():
    found = core_sets(processors({0}, {1}, {2}, {5}, {7}), 2)
    assert found == [frozenset({0, 1}), frozenset({2, 5})]


def test_labs_share_no_core_by_its_threads():
    found = core_sets(processors({0, 4}, {1, 5}, {2, 6}, {3, 7}), 2)
    assert found == [frozenset({0, 4, 1, 5}), frozenset({2, 6, 3, 7})]


@pytest.mark.parametrize(
    ("cores", "quota", "jobs", "fit", "said"),
    [
        ([{0}, {1}], None, 2, 1, "may use 2;"),
        ([{0}, {1}, {2}, {3}, {4}], None, 3, 2, "may use 5;"),
        ([{0}], None, 1, 1, "may use 1;"),
        ([{0, 2}, {1, 3}], None, 2, 1, r"may use 2 \(with 4 hardware threads\);"),
        ([{0}, {1}, {2}, {3}], 2.5, 2, 1, "may use the time of 2.5, the quota of"),
    ],
)
def test_too_few_cores_are_refused_with_what_fits(cores, quota, jobs, fit, said):
    with pytest.raises(JobsError, match=f"--jobs {jobs} needs .*{said}.*give --jobs {fit}:"):
        core_sets(processors(*cores, quota=quota), jobs)


def test_a_block_stays_on_its_cores_in_its_order():
    core = min(os.sched_getaffinity(0))
    started, ended = [], []
    with lanes([frozenset({core}), frozenset({core})]) as pools:
        assert [pool.submit(os.sched_getaffinity, 0).result() for pool in pools] == [{core}] * 2
        call = (str.upper, lambda trial: (trial.stack,))
        run_blocks(
            TRIALS, pools, call, started.append, lambda *each: ended.append(each), lambda: False
        )
    assert sorted(trial.hash for trial, _ in ended) == sorted(trial.hash for trial in TRIALS)
    assert all(outcome == trial.stack.upper() for trial, outcome in ended)
    for block in {trial.block for trial in TRIALS}:
        positions = [trial.position for trial in started if trial.block == block]
        assert positions == [1, 2]


def test_an_interrupted_run_begins_no_further_load():
    core = min(os.sched_getaffinity(0))
    ended = []
    with lanes([frozenset({core})]) as pools:
        call = (str.upper, lambda trial: (trial.stack,))
        run_blocks(
            TRIALS, pools, call, lambda _: None, lambda *each: ended.append(each),
            lambda: len(ended) >= 3,
        )  # fmt: skip
    assert len(ended) == 3


def test_an_error_of_a_lane_is_the_callers():
    core = min(os.sched_getaffinity(0))
    with pytest.raises(TypeError), lanes([frozenset({core})]) as pools:
        call = (str.upper, lambda _: (1,))
        run_blocks(TRIALS, pools, call, lambda _: None, lambda *_: None, lambda: False)
