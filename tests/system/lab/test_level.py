"""The level, with mutations: a stack with one setting changed is called unequal in that aspect, and
tuned TCP and QUIC are in none."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from eyelevel.base.errors import LabError
from eyelevel.calibration.level.classes import SAMPLES_MIN, SCENARIOS_BY_NAME
from eyelevel.calibration.level.rows import Run, rows_of
from eyelevel.calibration.measuring.measure import in_force_of
from eyelevel.calibration.measuring.runs import Recordings, run_scenario
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

pytestmark = pytest.mark.full

TCP, QUIC = STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"]
TRIES_MAX = 20 * SAMPLES_MIN
"""A busy machine starves loads, which tell nothing: at a load of 10 eleven of twelve."""

MUTATIONS: tuple[tuple[str, str, Stack, dict[str, Any]], ...] = (
    ("session tickets", "bulk on far", QUIC, {"session_tickets": True}),
    ("pacing", "bulk on far", QUIC, {"pacing": False}),
    ("ECN bits", "bulk on far", QUIC, {"ecn": "on"}),
    ("late urgent request", "late on slow", TCP, {"unsent_bytes_max": 1_000_000}),
    ("requests held back", "page on far", QUIC, {"alt_svc": False}),
    ("time in the browser's scheduler", "page on far", QUIC, {"alt_svc": False}),
    ("connection type", "page on far", QUIC, {"effective_connection_type": "3g"}),
    ("head bytes up", "page on far", QUIC, {"header_table_bytes": 0}),
    ("client's first window", "page on far", TCP, {"receive_window_bytes": None}),
)
"""Each: the aspect that is to be called unequal, where it is seen, and one stack's one setting.
Without one of its own the kernel's first window is 64 kB."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Stack], list[Any]]:
    """Values of a scenario's runs with a stack, each measured once."""
    sizes = {each.body_bytes for each in SCENARIOS_BY_NAME.values() if each.body_bytes}
    recordings = Recordings.write(tmp_path_factory.mktemp("level"), sizes)
    kept: dict[tuple[str, Stack], list[Any]] = {}

    def runs(name: str, stack: Stack) -> list[Any]:
        if (name, stack) not in kept:
            found: list[Any] = []
            for seed in range(TRIES_MAX):
                if len(found) == SAMPLES_MIN:
                    break
                try:
                    found.append(run_scenario(SCENARIOS_BY_NAME[name], stack, recordings, seed))
                except LabError as error:
                    print(error)
            kept[name, stack] = found
        # With fewer every row is unknown, so that none would be unequal.
        assert len(kept[name, stack]) == SAMPLES_MIN, f"{name}, {stack.name}: starved"
        return kept[name, stack]

    return runs


def rows(measured: Callable[[str, Stack], list[Any]], name: str, first: Stack, second: Stack):
    runs = [
        Run(name, side, values)
        for side, stack in enumerate((first, second))
        for values in measured(name, stack)
    ]
    found = rows_of(runs, in_force_of((first, second)))
    return {row.aspect: row for row in found if row.scenario == name}


@pytest.mark.parametrize("name", list(dict.fromkeys(each[1] for each in MUTATIONS)))
def test_tuned_tcp_and_quic_are_unequal_in_nothing(labs: None, measured, name: str) -> None:
    found = rows(measured, name, TCP, QUIC)
    unequal = {aspect: row for aspect, row in found.items() if row.word == "unequal"}
    assert not unequal, unequal


@pytest.mark.parametrize(("aspect", "name", "stack", "changed"), MUTATIONS)
def test_a_stack_with_one_setting_changed_is_unequal_in_that(
    labs: None, measured, aspect: str, name: str, stack: Stack, changed: dict[str, Any]
) -> None:
    mutant = replace(stack, **changed)
    pair = (mutant, QUIC) if stack is TCP else (TCP, mutant)
    row = rows(measured, name, *pair)[aspect]
    assert row.word == "unequal", row
    before = rows(measured, name, TCP, QUIC)[aspect]
    assert before.word != "unequal", before
