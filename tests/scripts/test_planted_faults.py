"""Planted faults are judged from one observation: predicted intervals, and what is named first."""

import random

import pytest

from benchmarks.level.planted_faults import (
    CONFIDENCE,
    Kept,
    build_stack,
    find_first,
    observe,
    predict_difference,
)
from eyelevel.calibration.level.classes import SCENARIOS_BY_NAME
from eyelevel.calibration.level.report_card import CHECKED
from eyelevel.calibration.level.rows import Run

LEVEL = {
    "bulk on far": {
        "connect_ms": 202.9, "tickets": 2.0, "certificate_bytes": 828.0,
        "first_flight_packets": 32.0, "first_flight_ms": 75.4,
    },
    "late on slow": {"late_bytes": 15_300.0},
    "loss at the tail": {"repair_ms": 249.0},
    "loss in the middle": {"repair_ms": 105.0},
    "page on slow": {
        "page_connect_ms": 262.0, "first_byte_ms": 310.0, "packet_bytes": 1480.0,
        "scheduler_ms_p50": 1.0,
    },
}  # fmt: skip
"""The values of a level stack, as measured."""


def kept(stack: str, rounds: int, changed: dict[str, float] | None = None) -> list[Kept]:
    """Runs with a scatter of a thousandth, but of values that are counts."""
    draw = random.Random(stack)
    counts = {"tickets", "first_flight_packets", "certificate_bytes", "packet_bytes"}
    return [
        Kept(
            round_,
            stack,
            Run(
                scenario,
                0,
                {
                    name: value * (1 if name in counts else draw.gauss(1, 1e-3))
                    for name, value in {**values, **(changed or {})}.items()
                    if name in values
                },
            ),
        )
        for round_ in range(rounds)
        for scenario, values in LEVEL.items()
    ]


@pytest.mark.parametrize(
    ("changed", "first"),
    [
        ({}, ""),
        ({"first_flight_packets": 14.0, "first_flight_ms": 20.0}, "initial window"),
        ({"first_flight_ms": 2.0}, "pacing"),
        ({"tickets": 0.0}, "session tickets"),
        ({"certificate_bytes": 4000.0, "connect_ms": 403.0}, "certificate chain"),
        ({"first_byte_ms": 360.0}, "first usable byte"),
        ({"late_bytes": 120_000.0}, "late urgent request"),
        ({"repair_ms": 700.0}, "repair at the tail"),
        ({"first_byte_ms": 200.0}, ""),
    ],
)
def test_a_fault_is_named_before_its_consequences(changed: dict[str, float], first: str) -> None:
    level, planted = (build_stack("h3", name, {}) for name in ("h3-level", "h3-planted"))
    runs = [*kept("h3-level", 6), *kept("h3-planted", 2, changed)]
    assert [find_first(each) for each in observe(runs, level, planted)] == [first, first]


def test_an_observation_that_lacks_a_scenario_is_left_out() -> None:
    assert set(LEVEL) == {each.name for each in CHECKED} <= set(SCENARIOS_BY_NAME)
    level, planted = (build_stack("h3", name, {}) for name in ("h3-level", "h3-planted"))
    runs = [*kept("h3-level", 6), *kept("h3-planted", 1)[1:]]
    assert list(observe(runs, level, planted)) == []


def test_the_interval_has_one_more_run_of_the_level_as_often_as_it_says() -> None:
    draw = random.Random(5)
    studies = 4000
    misses = 0
    for _ in range(studies):
        *level, value = [draw.gauss(100, 3) for _ in range(9)]
        found = predict_difference(level, [value], "mean")
        misses += not found.low <= 0 <= found.high
    expected = studies * (1 - CONFIDENCE)
    assert abs(misses - expected) < 4 * expected**0.5


def test_counts_and_labels_are_compared_with_all_runs_of_the_level() -> None:
    count = predict_difference([32.0, 33.0, 32.0], [10.0], "count")
    assert (count.value, count.low, count.high) == (-22.0, -23.0, -22.0)
    assert predict_difference(["a", "b", "a"], ["b"], "label").value == 0
    assert predict_difference(["a", "b", "a"], ["c"], "label").value == 1
    assert not predict_difference([1.0, 2.0], [1.0], "mean").determined
