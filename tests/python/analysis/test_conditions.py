import re

import pytest
from synthetic_run import SITES, metrics_of, write_run

from eyelevel.analysis.conditions import describe_conditions, list_planned_stacks
from eyelevel.analysis.study import read_results
from eyelevel.plan.file.change import question_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.presets import preset_text
from eyelevel.report.page import build_report
from eyelevel.report.sections.methods import paragraph

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 2")


@pytest.fixture
def results(tmp_path):
    """What reads a run of a plan's text."""

    def read(text):
        write_run(tmp_path, text=text)
        return read_results(tmp_path, metrics_of)

    return read


def test_first_visits_in_the_usual_conditions_need_no_words(results):
    found = results(TEXT)
    assert describe_conditions(found.plan) == ""
    assert "each load in a new browser and new network namespaces" in paragraph(found)


@pytest.mark.parametrize(
    ("visit", "said"),
    [
        (
            "warm",
            "on a warm visit (a second load over the connections that the first load left open",
        ),
        ("repeat", "on a repeat visit (a second load with the first load's TLS tickets"),
    ],
)
def test_a_plans_visit_is_in_its_methods(results, visit, said):
    found = results(f'visit = "{visit}"\n{TEXT}')
    assert said in describe_conditions(found.plan)
    text = paragraph(found)
    assert said in text
    assert (
        "each load, together with the visit before it, in a new browser and new network names"
        in text
    )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'visitor = "known"',
            "with a browser that already knew which protocols every host supports",
        ),
        ('effective_connection_type = "3g"', "with the browser told that the network is 3g"),
        ('effective_connection_type = "measured"', "with Chromium's own estimate of the network"),
    ],
)
def test_what_the_browser_knows_and_takes_the_network_for_is_said(results, line, said):
    assert said in describe_conditions(results(f"{line}\n{TEXT}").plan)


def test_a_known_visitors_load_has_a_visit_before_it(results):
    assert "each load, together with the visit before it," in paragraph(
        results(f'visitor = "known"\n{TEXT}')
    )


def test_stacks_are_told_with_what_the_browser_knew(results, tmp_path):
    results(f'visitor = "known"\n{TEXT}')
    text = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    assert "servers known beforehand" in text and "a first visitor" not in text


@pytest.mark.parametrize(
    ("line", "visitor", "seen"),
    [
        ("", "first", "network"),
        ('visit = "repeat"', "known", "network"),
        ('browser = "firefox"', "first", "measured"),
    ],
)
def test_what_the_browser_was_told_follows_from_visit_and_browser(results, line, visitor, seen):
    for own in list_planned_stacks(results(f"{line}\n{TEXT}").plan):
        assert (own.visitor, own.effective_connection_type) == (visitor, seen)


def test_a_visit_of_one_stack_is_said_of_that_stack(results):
    found = results(question_plan(SITES, "visit=repeat", ["dsl"], blocks_max=6))
    (changed,) = (stack for stack in found.stacks if stack != "tcp+")
    visits = {each.name: each.visit for each in list_planned_stacks(found.plan)}
    assert visits == {"tcp+": "first", changed: "repeat"}
    assert describe_conditions(found.plan).startswith(f"{changed} on a repeat visit (")


def test_what_a_variants_browser_has_of_its_own_is_said_of_that_variant():
    variants = (
        '[{ name = "main" }, { name = "phone", browser = { device = "moto-g" } }, '
        '{ name = "fox", browser = { browser = "firefox" } }]'
    )
    text = 'sites = ["agency"]\nnetworks = ["dsl"]\nstacks = ["quic"]\nblocks = 2\n'
    text += f'reference = "main"\nvariants = {variants}\n'
    plan = parse_plan(text, "plan.toml")
    said = describe_conditions(plan)
    assert "Chromium" not in said
    assert "fox/quic in Firefox, its pictures taken from a film" in said
    assert "phone with its own device moto-g" in said and "fox with its own browser" in said


def test_loads_without_pictures_are_said(results):
    assert (
        describe_conditions(results(f"capture = false\n{TEXT}").plan) == "without taking pictures"
    )


def test_a_visit_that_differs_is_in_the_table_of_the_stacks(results, tmp_path):
    results(question_plan(SITES, "visit=repeat", ["dsl"], blocks_max=6))
    page = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    row = r">visit</th>(?:<td>set</td>)?<td>([^<]*)</td><td>([^<]*)</td>"
    assert re.findall(row, page) == [("first", "repeat: a second load, with TLS tickets")]
