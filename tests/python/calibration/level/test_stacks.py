"""Stacks explained on a terminal: no line too long, nothing said of what was not measured."""

import pytest
from levels import level, settings

from eyelevel.calibration.level.rows import ExplainedRow, explain, read_known
from eyelevel.calibration.level.text import find_unmeasured, format_stacks
from eyelevel.plan.stack_presets import STACKS

NAMES = ("tcp", "tcp+", "quic")


def text(names=NAMES, levels=(), width=80, more=()) -> str:
    rows = [*explain(settings(*names), read_known(levels, names)), *more]
    return "\n".join(line.text for line in format_stacks(names, rows, levels, width))


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("names", [NAMES, tuple(stack.name for stack in STACKS)])
@pytest.mark.parametrize("levels", [(), (level(quic_ecn=1.0, image=1),)])
def test_no_line_is_wider_than_the_terminal(width, names, levels) -> None:
    assert max(map(len, text(names, levels, width).splitlines())) <= width


def test_without_a_measurement_only_settings_are_told() -> None:
    said = text()
    assert "MEASURED" not in said and "not measured" not in said
    rows = explain(settings(*NAMES), read_known([], NAMES))
    assert find_unmeasured(NAMES, rows) == list(NAMES)
    assert find_unmeasured(NAMES, explain(settings(*NAMES), read_known([level()], NAMES))) == [
        "tcp"
    ]


def test_settings_that_are_apart_come_first_and_stacks_that_share_one_share_a_place() -> None:
    apart, alike = text().split("\n\n")
    assert "initial window                   tcp: 10 packets   tcp+, quic: 32 packets" in apart
    assert "congestion control" in alike and "pacing" not in alike


def test_measured_values_stand_by_what_was_found_with_the_answer_first() -> None:
    said = text(levels=[level(quic_ecn=1.0)])
    assert said.startswith("tcp+ and quic are not level: ")
    unequal = said.index("MEASURED, UNEQUAL")
    assert unequal < said.index("tcp+: 0 %   quic: 100 %") < said.index("MEASURED, EQUAL")
    assert "page on far, slow   tcp+, quic: 4g" in said
    assert said.index("MEASURED, INHERENT") < said.index("tcp+: 402 ms   quic: 202 ms")


def test_what_a_runs_loads_measured_is_told_as_such_and_called_nothing() -> None:
    own = ExplainedRow("connections opened", "", "measured", ("7", "7", "2"), None)
    assert text(more=[own]).endswith(
        "MEASURED in the run's loads, medians\n  connections opened  tcp, tcp+: 7   quic: 2"
    )
