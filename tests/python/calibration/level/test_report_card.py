"""The report card of an external server: grades, order and consequences, from synthetic rows."""

import json

import pytest

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import SCENARIOS_BY_NAME
from eyelevel.calibration.level.report_card import (
    CRITERIA,
    GRADES,
    Cost,
    Finding,
    card_lines,
    judge_server,
    order_findings,
    parse_costs,
    read_costs,
)
from eyelevel.calibration.level.rows import Row, Run, rows_of
from eyelevel.plan.stack_presets import STACKS_BY_NAME

QUIC = STACKS_BY_NAME["quic"]
SCENARIOS = tuple(SCENARIOS_BY_NAME.values())
VALUES = {each.name: each.measure.value for each in ASPECTS if each.measure is not None}
PLACES = {each.name: each.measure.on[0] for each in ASPECTS if each.measure is not None}
LIKE_LEVEL = {"session tickets": 2.0}


def cost(ms: float, low: float, high: float, fault: str = "a fault") -> Cost:
    return Cost(fault, "agency", "lte", "Speed Index", Estimate(ms, low, high))


def rows(changed: dict[str, float], lacking: tuple[str, ...] = ()) -> list[Row]:
    """Return the level of a server whose aspects are 100 as the level stack's, but for these."""
    runs = []
    for name in {each.aspect for each in CRITERIA}:
        for side in (0, 1):
            for number in range(3):
                value = changed.get(name, 100.0) if side else 100.0
                if not (side and name in lacking):
                    values = {VALUES[name]: value + number * 1e-3}
                    runs.append(Run(PLACES[name], side, values))
    return rows_of(runs, (QUIC, QUIC))


def judge(
    changed: dict[str, float],
    costs: dict[tuple[str, str], Cost] | None = None,
    lacking: tuple[str, ...] = (),
    failures: tuple[str, ...] = (),
) -> dict[str, Finding]:
    found = judge_server(
        "h3", "mine-h3@external", rows(changed, lacking), SCENARIOS, failures, costs or {}
    )
    return {each.aspect: each for each in found if each.grade != "unknown"}


def test_a_server_like_the_level_stack_is_as_recommended() -> None:
    assert {each.grade for each in judge({}).values()} == {"recommended"}


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda each: each.aspect)
def test_what_is_worse_costs_pages_time_if_the_same_fault_does(criterion) -> None:
    worse = {criterion.aspect: 100.0 + criterion.worse * 5000.0}
    better = {criterion.aspect: 100.0 - criterion.worse * 5000.0}
    known = {("h3", criterion.fault): cost(40, 20, 60)} if criterion.fault else {}
    expected = "costs pages time" if criterion.fault else "allowed"
    assert judge(worse, known)[criterion.aspect].grade == expected
    assert judge(worse)[criterion.aspect].grade == "allowed"
    enough = criterion.enough is not None
    assert judge(better, known)[criterion.aspect].grade == ("recommended" if enough else "allowed")


def test_of_several_metrics_the_certain_cost_counts() -> None:
    pacing = {"version": "h3", "fault": "no pacing", "site": "agency", "network": "lte"}
    listed = [
        {**pacing, "metric": "First Visual Change", "ms": 40.0, "ms_low": 20.0, "ms_high": 60.0},
        {**pacing, "metric": "Speed Index", "ms": 90.0, "ms_low": -5.0, "ms_high": 185.0},
        {**pacing, "metric": "Page Load Time", "ms": 30.0, "ms_low": 10.0, "ms_high": 50.0},
    ]
    found = parse_costs(json.dumps({"costs": listed}))["h3", "no pacing"]
    assert found.metric == "First Visual Change"


def test_a_fault_without_a_certain_cost_is_allowed() -> None:
    found = judge({"pacing": 0.0}, {("h3", "no pacing"): cost(5, -20, 30)})["pacing"]
    assert (found.grade, found.note) == ("allowed", "no cost was found on agency over lte")


@pytest.mark.parametrize(
    ("failure", "grade"),
    [
        ("loss at the tail, mine-h3@external: a transfer failed", "broken"),
        ("loss at the tail, mine-h3@external: starved: packets were late", None),
        ("loss at the tail, quic: a transfer failed", None),
        ("bulk on far, mine-h3@external: a transfer failed", None),
    ],
)
def test_what_never_succeeded_is_broken_with_its_reason(failure: str, grade: str | None) -> None:
    found = judge({}, lacking=("repair at the tail",), failures=(failure,))
    assert (each := found.get("repair at the tail")) is None or each.note == "a transfer failed"
    assert (each and each.grade) == grade


def test_too_few_runs_are_named_as_the_reason() -> None:
    runs = [Run("bulk on far", side, {"first_flight_ms": 70.0 * side}) for side in (0, 1)]
    few = [row for row in rows_of(runs, (QUIC, QUIC)) if row.aspect == "pacing"]
    (found,) = judge_server("h3", "mine-h3@external", few, SCENARIOS, (), {})
    assert (found.grade, found.note) == ("unknown", "a stack has fewer than 3 values")


def test_a_ticket_is_enough_even_if_the_level_stack_gives_more() -> None:
    assert judge({"session tickets": 1.0})["session tickets"].grade == "recommended"
    assert judge({"session tickets": 0.0})["session tickets"].grade == "allowed"


def test_the_largest_gain_comes_first_and_consequences_last() -> None:
    costs = {
        ("h3", "a certificate chain of 4,000 bytes"): cost(30, 10, 50),
        ("h3", "50 ms before the first byte"): cost(50, 40, 60),
        ("h3", "initial window of 10 packets"): cost(20, 10, 30),
        ("h3", "no pacing"): cost(90, 80, 100),
    }
    changed = {
        "certificate chain": 4000.0, "handshake in the browser": 400.0,
        "first usable byte": 200.0, "initial window": 10.0, "pacing": 0.0,
    }  # fmt: skip
    ordered = order_findings(list(judge(changed, costs).values()))
    assert [each.aspect for each in ordered][:5] == [
        "first usable byte", "certificate chain", "initial window", "pacing",
        "handshake in the browser",
    ]  # fmt: skip
    assert ordered[3].consequence_of == ("initial window",)
    assert ordered[4].consequence_of == ("certificate chain",)


def test_a_fault_without_a_known_cost_causes_others_and_what_is_better_none() -> None:
    changed = {"certificate chain": 4000.0, "handshake": 400.0, "handshake in the browser": 20.0}
    found = judge(changed)
    assert found["certificate chain"].grade == "allowed"
    assert found["handshake"].consequence_of == ("certificate chain",)
    assert found["handshake in the browser"].consequence_of == ()
    ordered = [each.aspect for each in order_findings(list(found.values()))]
    assert ordered.index("certificate chain") < ordered.index("handshake")


def test_a_card_has_the_answer_first_and_each_finding_once() -> None:
    costs = {("h3", "no pacing"): cost(90, 80, 100, "no pacing")}
    findings = order_findings(list(judge({"pacing": 0.0}, costs).values()))
    lines = card_lines("mine", findings)
    assert lines[0] == f"mine, {len(findings)} aspects: 1 costs pages time, 11 recommended."
    assert "no pacing, planted in our own stack, costs +90 ms (+80 to +100)" in lines[4]
    assert all(sum(each.aspect + " (" in line for line in lines) == 1 for each in findings)


def test_each_criterion_is_an_aspect_and_each_cost_one_of_its_faults() -> None:
    assert {each.aspect for each in CRITERIA} <= set(VALUES)
    for each in CRITERIA:
        assert set(each.caused_by) <= {other.aspect for other in CRITERIA}
    faults = {each.fault for each in CRITERIA}
    assert all(cost.fault in faults for cost in read_costs().values())
    assert len(set(GRADES)) == 5
