"""Machines on the page, on its first screen and in the summary."""

import re
from dataclasses import replace

import pytest
from repository import ROOT
from synthetic_fleet import fleet_run
from synthetic_run import TWO_STACKS, metrics_of, read_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.report.page import build_report, page, summary_of
from eyelevel.report.sections.machines import machines_section

FIVE = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """With quic 12 % slower on d."""
    return fleet_run(tmp_path_factory.mktemp("odd"), FIVE, {"d": 1.12})


def first_screen(results):
    text = page(results).replace(NO_BREAK, " ")
    return text[: text.index('id="reviewers"')]


def test_the_page_has_a_row_a_machine_and_one_a_comparison(odd):
    text = build_report(odd.directory, metrics_of).read_text(encoding="utf-8")
    section = text.replace(NO_BREAK, " ")
    section = section[section.index('id="machines"') : section.index('id="setup"')]
    assert all(f"host-{name} <small>{name}</small>" in section for name in FIVE)
    assert section.count("on another such machine") == 1
    assert section.count("F(4, ") == 2


def test_the_first_screen_says_where_machines_deviate_by_half_of_what_matters(odd):
    said = first_screen(odd)
    assert "Machines differ." in said and "half of the smallest effect of interest is" in said
    assert "host-d differs most from the others" in said
    plan = replace(odd.plan, smallest_effect_of_interest=0.9)
    assert "Machines differ." not in first_screen(replace(odd, plan=plan))


def test_a_run_on_one_machine_shows_nothing_of_machines(tmp_path):
    results = read_run(tmp_path, None, TWO_STACKS)
    assert machines_section(results) == ""
    assert 'id="machines"' not in page(results)
    assert not any("achines" in head for head, _ in warnings(results))


def test_the_summary_has_all_of_it_in_the_references_words(odd):
    said = summary_of(odd)
    assert [row["name"] for row in said["machines"]] == [f"host-{name}" for name in FIVE]
    [found] = [each for each in said["between_machines"] if each["network"] == "dsl"]
    assert found["deviation_machines"] > 0.03 > found["deviation_blocks"] * 0.5
    assert found["other_machines"]["low"] < found["other_machines"]["value"]
    worst = max(found["machines"], key=lambda each: abs(each["distance"]))
    assert worst["machine"] == "d" and worst["p_holm"] < 0.001
    # Twice the smaller of the F test's and the farthest machine's, then Holm's over networks.
    assert 2 * min(found["test"]["p"], worst["p_holm"]) <= found["p_holm"] < 0.001
    reference = (ROOT / "docs/reference/report.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", reference))
    assert documented >= {*said["machines"][0], *found, *found["machines"][0]}


def test_below_five_machines_the_page_says_nothing_of_others(tmp_path):
    results = fleet_run(tmp_path, FIVE[:4])
    text = machines_section(results)
    assert "on another such machine" not in text and "host-d" in text
    [one, _] = summary_of(results)["between_machines"]
    assert one["other_machines"]["undetermined_because"] == "fewer than 5 machines"
