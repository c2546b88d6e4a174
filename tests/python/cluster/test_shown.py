"""What a machine says of itself: facts, what keeps it from loading, what a report says of it."""

import os

import pytest

from eyelevel.cluster import driver
from eyelevel.cluster.driver import PlanQuestions
from eyelevel.plan.browser import Browser
from eyelevel.run.machines import evidence

PATH = {"loss rate": {"measured": "1.9 %", "bound": "1.1 %", "passed": False}}


@pytest.fixture
def problems(monkeypatch):
    """What is told of a machine whose lab and path are so."""

    def of(lab_failure, checks):
        monkeypatch.setattr(evidence, "run_tool", lambda _: {"lab_failure": lab_failure})
        monkeypatch.setattr(evidence, "_path_checks", lambda: checks)
        return evidence.machine_problems.__wrapped__()

    return of


def test_a_path_that_is_not_exact_is_told_with_its_number_and_its_bound(problems):
    [line] = problems(None, PATH | {"delay": {"measured": "", "bound": "", "passed": None}})
    assert line.startswith("its emulated path is not exact: loss rate 1.9 % (bound: 1.1 %); run ")
    assert problems(None, {}) == ()


def test_a_lab_that_cannot_be_built_is_told_alone(problems):
    assert problems("no /dev/net/tun", PATH) == (
        "no lab can be built: no /dev/net/tun; run eyelevel doctor there",
    )


@pytest.mark.parametrize("found", [(), ("no lab can be built",)])
def test_the_environment_is_of_this_machine_as_busy_as_it_is_when_it_is_asked(monkeypatch, found):
    loads = iter([0.5, 9.0])
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    monkeypatch.setattr(driver, "_described", lambda _: {"cpu": "this one", "load_1min": 7.0})
    monkeypatch.setattr(driver, "machine_facts", lambda _: {"kernel": "6.1"})
    monkeypatch.setattr(driver, "machine_problems", lambda: found)
    monkeypatch.setattr(driver, "level_facts", lambda _: {"level of a and b": "equal"})
    monkeypatch.setattr(driver, "read_measurements", lambda _: {"path_checks": PATH})
    shown = PlanQuestions(Browser(), []).describe_machine()
    assert shown.problems == found
    assert shown.environment["cpu"] == "this one" and shown.environment["load_1min"] == 0.5
    assert (
        ("path_checks" in shown.environment) == (not found) == ("level of a and b" in shown.facts)
    )
