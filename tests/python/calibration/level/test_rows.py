from dataclasses import replace

import pytest

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import FAR, SCENARIOS_BY_NAME
from eyelevel.calibration.level.rows import Run, pending, rows_of
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.stack_presets import STACKS_BY_NAME

TCP, QUIC = (stack_in_force(STACKS_BY_NAME[name], FAR) for name in ("tcp+", "quic"))

NOTHING_OF = {
    "http1": {"priorities", "late_bytes", "unsent_bytes_max"},
    "http1-plain": {
        *("priorities", "late_bytes", "unsent_bytes_max"),
        *("certificate_bytes", "handshake_bytes", "cipher"),
    },
}
"""Values that loads and transfers of these stacks do not give."""


def row_of(first, second, values, stacks=(TCP, QUIC), aspect="handshake", scenario="bulk on far"):
    runs = [
        Run(scenario, side, {values: each})
        for side, own in enumerate((first, second))
        for each in own
    ]
    return next(
        row for row in rows_of(runs, stacks) if (row.aspect, row.scenario) == (aspect, scenario)
    )


def test_a_bound_is_of_quic_less_tcp_whichever_comes_first() -> None:
    tcp, quic = [402.0, 402.1, 401.9], [202.0, 202.1, 201.9]
    there = row_of(tcp, quic, "connect_ms")
    back = row_of(quic, tcp, "connect_ms", (QUIC, TCP))
    assert (there.word, back.word) == ("inherent", "inherent")
    assert there.difference.value == -back.difference.value == -200.0
    assert there.because == back.because == "one round trip less, RFC 9001 4.1"
    # The same difference the wrong way round is nobody's nature.
    assert row_of(quic, tcp, "connect_ms").word == "unequal"


def test_both_values_differ_by_the_difference() -> None:
    row = row_of(
        [460.0, 462.0, 520.0],
        [249.0, 260.0, 245.0],
        "repair_ms",
        aspect="repair at the tail",
        scenario="loss at the tail",
    )
    assert row.second - row.first == pytest.approx(row.difference.value)


def test_what_is_allowed_is_turned_with_the_pair() -> None:
    tcp, quic = [402.0, 402.1, 401.9], [202.0, 202.1, 201.9]
    there = row_of(tcp, quic, "connect_ms")
    back = row_of(quic, tcp, "connect_ms", (QUIC, TCP))
    assert (there.allowed_low, there.allowed_high) == (-210.0, -190.0)
    assert (back.allowed_low, back.allowed_high) == (190.0, 210.0)
    alike = row_of(tcp, tcp, "connect_ms", (TCP, TCP))
    assert (alike.allowed_low, alike.allowed_high) == (-10.0, 10.0)


def test_two_stacks_over_one_transport_have_nothing_inherent() -> None:
    tcp, faster = [402.0, 402.1, 401.9], [202.0, 202.1, 201.9]
    assert row_of(tcp, faster, "connect_ms", (TCP, TCP)).word == "unequal"


def test_an_unequal_row_names_the_settings_that_the_stacks_have_apart() -> None:
    unpaced = replace(QUIC, pacing=False)
    row = row_of([75.0, 75.1, 74.9], [0.4, 0.5, 0.3], "first_flight_ms", (TCP, unpaced), "pacing")
    assert (row.word, row.settings) == ("unequal", ("pacing",))
    assert (
        row_of([75.0, 75.1, 74.9], [78.0, 78.1, 77.9], "first_flight_ms", aspect="pacing").word
        == "equal"
    )


def test_what_was_not_run_is_unknown_and_asks_for_runs() -> None:
    rows = rows_of([], (TCP, QUIC))
    assert {row.word for row in rows} == {"unknown"}
    assert len(rows) == sum(len(each.measure.on) for each in ASPECTS if each.measure)
    assert pending(rows) == {row.scenario for row in rows}


def test_what_a_stack_has_nothing_of_is_unknown_and_asks_for_no_runs() -> None:
    runs = [Run("late on slow", side, {"late_bytes": 1.0} if side else {}) for side in (0, 1)] * 3
    (row,) = (row for row in rows_of(runs, (TCP, QUIC)) if row.aspect == "late urgent request")
    assert (row.word, row.runs) == ("unknown", (3, 3))
    assert pending([row]) == set()


def test_labels_of_one_side_are_shown_each_once() -> None:
    row = row_of(
        ["a", "b", "a"], ["a", "a", "a"], "priorities", aspect="priorities", scenario="page on far"
    )
    assert (row.first, row.second, row.word) == ("a | b", "a", "unknown")


def test_a_value_that_is_no_number_is_in_no_row() -> None:
    row = row_of([402.0, float("nan"), 402.0], [202.0, 202.0, 202.0], "connect_ms")
    assert (row.word, row.first, row.difference.value) == ("unknown", None, None)


def test_a_difference_has_the_shape_of_every_estimate() -> None:
    known = row_of([402.0, 403.0, 401.0], [202.0, 203.0, 201.0], "connect_ms").as_json()
    shown = known["difference"]
    assert shown["low"] < shown["value"] == -200.0 < shown["high"] and shown["p"] < 0.001
    assert shown["undetermined_because"] is None
    few = row_of([402.0], [202.0], "connect_ms").as_json()["difference"]
    assert few.pop("undetermined_because") == "a stack has fewer than 3 values"
    assert few == {"value": None, "low": None, "high": None, "p": None}


@pytest.mark.parametrize("name", ["http1", "http1-plain"])
def test_what_a_protocol_has_nothing_of_is_said_to_be_not_there(name) -> None:
    """Every measure that such a stack gives no value of says why."""
    old = stack_in_force(STACKS_BY_NAME[name], FAR)
    given = {each.measure.value for each in ASPECTS if each.measure} - NOTHING_OF[name]
    labels = {"priorities", "connection_type", "cipher"}
    runs = [
        Run(scenario, side, {value: "same" if value in labels else 1.0 for value in given})
        for scenario in SCENARIOS_BY_NAME
        for side in (0, 1)
        for _ in range(3)
    ]
    rows = rows_of(runs, (old, TCP))
    assert {row.word for row in rows} == {"equal", "absent"}
    absent = [row for row in rows if row.word == "absent"]
    assert all(row.because.startswith(("HTTP/1.1", "cleartext")) for row in absent)
    assert not pending(rows)
    # Of stacks that could have it, it is still unknown.
    words = {row.aspect: row.word for row in rows_of(runs, (TCP, TCP))}
    assert {words[row.aspect] for row in absent} == {"unknown"}


def test_marks_differ_by_nature_only_where_both_stacks_have_them() -> None:
    on = (replace(TCP, ecn="on"), replace(QUIC, ecn="on"))
    some, every, none = [0.75, 0.76, 0.77], [1.0] * 3, [0.0] * 3
    aspect = {"aspect": "ECN bits", "scenario": "page on far"}
    both = row_of(some, every, "ecn_share_down", on, **aspect)
    assert (both.word, "RFC 3168 6.1" in both.because) == ("inherent", True)
    assert row_of(none, every, "ecn_share_down", (TCP, on[1]), **aspect).word == "unequal"
    assert row_of(none, every, "ecn_share_down", on, **aspect).word == "unequal"
    assert row_of(some, every, "ecn_share_down", (TCP, QUIC), **aspect).word == "unequal"
