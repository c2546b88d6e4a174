"""Labs side by side: blocks whole on their cores, interrupts and errors heard."""

import os

import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.run.study.dispatch import Dispatch
from eyelevel.run.study.slots import WorkerPool, worker_processes

PLAN = """sites = ["a", "b"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""
TRIALS = expand(parse_plan(PLAN, "plan"), [Site("a", "sha256:a"), Site("b", "sha256:b")])
CORES = frozenset({min(os.sched_getaffinity(0))})


def run(pools, arguments, interrupted=lambda ended: False):
    started, ended = [], []
    slots = WorkerPool(pools, (str.upper, arguments), started.append, lambda: interrupted(ended))
    dispatch = Dispatch(TRIALS)
    for joined in slots.wait():
        dispatch.join(joined.slot)
    while not interrupted(ended):
        for slot, block in dispatch.starts(0):
            slots.start(slot, block)
        if dispatch.is_done:
            break
        for came in slots.wait():
            ended.extend(came.outcomes)
            dispatch.take_results(
                came.slot, [each.hash for each, _ in came.outcomes], is_last=came.is_last
            )
    return started, ended


def test_a_block_stays_on_its_cores_in_its_order():
    with worker_processes([CORES, CORES]) as pools:
        assert [pool.submit(os.sched_getaffinity, 0).result() for pool in pools] == [CORES] * 2
        started, ended = run(pools, lambda trial: (trial.stack,))
    assert sorted(trial.hash for trial, _ in ended) == sorted(trial.hash for trial in TRIALS)
    assert all(outcome == trial.stack.upper() for trial, outcome in ended)
    for block in {trial.block for trial in TRIALS}:
        positions = [trial.position for trial in started if trial.block == block]
        assert positions == [1, 2]


def test_an_interrupted_run_begins_no_further_load():
    with worker_processes([CORES]) as pools:
        _, ended = run(pools, lambda trial: (trial.stack,), lambda ended: len(ended) >= 3)
    assert len(ended) == 3


def test_an_error_of_a_lane_is_the_callers():
    with pytest.raises(TypeError), worker_processes([CORES]) as pools:
        run(pools, lambda _: (1,))
