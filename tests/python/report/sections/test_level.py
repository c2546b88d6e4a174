from dataclasses import replace

import pytest

from eyelevel.calibration.level.classes import FAR
from eyelevel.calibration.level.rows import Run, rows_of
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.report.first_screen.opening import opening
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.report.page import summary_of
from eyelevel.report.page_data import PageData
from eyelevel.report.sections.level import level_section

ECN = {"ecn_share_down": ([0.0] * 3, [1.0] * 3), "ecn_share_up": ([0.0, 0.0, 0.5], [0.0, 0.4, 0.0])}


@pytest.fixture
def results(quickstart_contents):
    return quickstart_contents


@pytest.fixture
def uneven(results):
    """A report of tcp and quic, of which quic alone can be marked; up is not sure."""
    runs = [
        Run("page on far", side, {name: own[side][at] for name, own in ECN.items()})
        for side in (0, 1)
        for at in range(3)
    ]
    stacks = tuple(stack_in_force(STACKS_BY_NAME[name], FAR) for name in ("tcp", "quic"))
    level = {
        "first": "tcp",
        "second": "quic",
        "complete": True,
        **{"kernel": "6.1", "eyelevel": "0.1.0", "binary": "0123", "browser": "Chromium 156"},
        "rows": [row.as_json() for row in rows_of(runs, stacks) if row.first is not None],
    }
    return replace(results, environment={**results.environment, "levels": [level]})


def test_unequal_stacks_are_told_before_the_answer(uneven):
    page = opening(uneven, PageData(uneven))
    assert page.index("tcp and quic are not level.") < page.index('class="headline"')
    head, text = warnings(uneven)[0]
    assert head == "tcp and quic are not level."
    assert "ECN bits (page on far 0 and 100 %)" in text


def test_what_is_unknown_is_told_and_never_called_equal(uneven):
    found = dict(warnings(uneven))
    said = found["It is not fully known whether tcp and quic are level."]
    assert said.startswith("The intervals were too wide to tell for: ECN bits, up (page on far")
    assert summary_of(uneven)["levels"][0]["rows"][1]["word"] == "unknown"


def test_pairs_that_nobody_measured_are_named(uneven):
    text = dict(warnings(uneven))["Level: not measured on this machine."]
    assert text == (
        "This concerns tcp and tcp+. To measure the pair, run eyelevel validate level --stacks "
        "tcp,tcp+. Runs that begin after that will have it."
    )


def test_a_stack_of_the_plan_s_own_is_measured_with_the_plan(results):
    def said(**plan):
        found = replace(results, plan=replace(results.plan, **plan))
        return dict(warnings(found))["Level: not measured on this machine."]

    assert "To measure the first, run eyelevel validate level --stacks tcp,tcp+." in said()
    stacks = results.plan.stacks
    mine = (*stacks, replace(stacks[0], name="mine"))
    its = said(comparisons=(Comparison("tcp", "mine"),), stacks=mine)
    assert "To measure the pair, run eyelevel validate level --stacks mine,tcp --plan PLAN." in its
    browser = results.plan.browser
    known = replace(browser, visitor="known")
    assert "--stacks tcp,tcp+ --plan PLAN." in said(browser=known)
    firefox = replace(browser, browser="firefox")
    only = "The level can be measured only with the installed Chromium, without switches."
    assert said(browser=firefox).endswith(only)


def test_stacks_that_differ_by_the_ways_to_their_origins_alone_have_no_level_to_measure(results):
    """`ask --change "rtt:HOST=90→20"`: nobody is sent to measure a stack against itself."""
    far = replace(results.plan.stacks[0], name="far", origin_rtt={"a.example": 90.0})
    near = replace(far, name="near", origin_rtt={"a.example": 20.0})
    ways = Comparison("near", "far")

    def said(*stacks, comparisons=(ways,)):
        plan = replace(results.plan, stacks=stacks, comparisons=tuple(comparisons))
        found = replace(results, plan=plan)
        return dict(warnings(found)), level_section(found)

    found, appendix = said(far, near)
    assert not any("Level" in head for head in found)
    assert "far and near differ only in the paths to their origins" in appendix
    assert "validate level" not in appendix
    for other in (replace(near, ecn="on"), replace(near, initial_window_packets=11)):
        found, appendix = said(far, other)
        assert "--stacks far,near" in found["Level: not measured on this machine."]
        assert "paths to their origins" not in appendix
    first = results.plan.stacks[0]
    both = [ways, Comparison("near", first.name)]
    found, appendix = said(replace(first, pacing=not first.pacing), far, near, comparisons=both)
    text = found["Level: not measured on this machine."]
    assert "far and near" not in text and f"This concerns {first.name} and near." in text
    assert "far and near differ only in the paths" in appendix


def test_a_pair_that_is_not_compared_is_in_no_report_of_it(uneven):
    (level,) = uneven.environment["levels"]
    other = {**level, "first": "tcp+"}
    found = replace(uneven, environment={"levels": [other]})
    assert not any("not level" in head for head, _ in warnings(found))
    assert "not measured" in level_section(found)


def test_the_appendix_has_every_aspect_and_what_matters_is_open(uneven):
    said = level_section(uneven)
    assert "tcp and quic are not level: of 2 rows 1 unequal (ECN bits), 1 unknown" in said
    (level,) = uneven.environment["levels"]
    assert all(f"{row['aspect']}<small>" in said for row in level["rows"])
    assert "<details>" not in said
    for row in level["rows"]:
        row["word"] = "equal"
    said = level_section(uneven)
    assert "<details><summary>Equal: " in said
    assert said.count("<tr>") == 1 + len(level["rows"])
