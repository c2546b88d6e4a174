"""What a study that may stop early reports of the comparisons that it left undecided."""

import json
import re

import pytest
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.claims import estimate_needed
from eyelevel.analysis.study import read_results
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.report.sections.gains import gains_json

PLAN = """title = "Is it sure?"
sites = ["startup"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 12
[stop]
blocks_min = 6
"""


def said(folder, noise, text=PLAN, outcomes=None):
    write_run(folder, text=text, noise=noise, outcomes=outcomes)
    return beside_the_level(read_results(folder, metrics_of))


def beside_the_level(results):
    """These runs' machine was never measured, which is not what is asked here."""
    return {head: text for head, text in warnings(results) if not head.startswith("Level:")}


SENTENCE = re.compile(
    r"quic against tcp on (\w+): a study of about (\d+) blocks would decide it in four of five "
    r"cases; that is (\d+) more, or (?:about (\d+) minutes?|less than a minute) of loads\."
)


def test_an_undecided_study_reports_the_blocks_and_minutes_that_would_decide_it(tmp_path):
    text = said(tmp_path, 0.25)["Undecided."]
    results = read_results(tmp_path, metrics_of)
    (found,) = (each for each in estimate_needed(results) if each.network == "dsl")
    stated = {network: numbers for network, *numbers in SENTENCE.findall(text)}["dsl"]
    assert stated[:2] == [str(found.blocks), str(found.more_blocks)]
    assert 12 < found.blocks == found.more_blocks + 12 < 1000
    of_network = results.table.filter(network="dsl")["wall_ms"]
    minutes = of_network.sum() / 12 / 60_000 * found.more_blocks
    assert found.more_minutes == pytest.approx(minutes)
    assert stated[2] == (str(round(minutes)) if minutes >= 1 else "")
    (json_gain,) = (
        each
        for each in gains_json(results)["gains"]
        if (each["network"], each["metric"]) == ("dsl", results.primary_metric)
    )
    assert json_gain["would_decide"] == found.as_json()


def test_where_no_number_of_blocks_would_do_the_machine_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("eyelevel.analysis.stats.stopping_rule.BLOCKS_COUNTED_MAX", 14)
    monkeypatch.setattr("eyelevel.report.first_screen.warnings.BLOCKS_COUNTED_MAX", 14)
    found = said(tmp_path, 0.25)["Undecided."]
    assert found.startswith("quic against tcp on dsl: ")
    assert "not even 14 blocks would decide it; a quieter machine may help." in found


def test_decided_comparisons_need_no_warning(tmp_path):
    assert said(tmp_path, 0.01) == {}
    gains = gains_json(read_results(tmp_path, metrics_of))["gains"]
    assert all(each["would_decide"] is None for each in gains)


def test_many_comparisons_are_counted(tmp_path):
    networks = ", ".join(f'{{ name = "n{n}", base = "dsl" }}' for n in range(6))
    text = PLAN.replace('"dsl", "lte"', networks)
    assert said(tmp_path, 0.25, text)["Undecided."].endswith(" 3 more comparisons are undecided.")


def test_many_timeouts_leave_no_interval(tmp_path):
    late = {(f"startup/lte/{n}", "quic"): "timeout" for n in (3, 4, 5)}
    found = said(tmp_path, 0.01, outcomes=late)
    assert found["Undecided."].startswith("quic against tcp on lte has no interval: ")


def test_an_unfinished_run_is_not_judged(tmp_path):
    write_run(tmp_path, text=PLAN, noise=0.35)
    plan = json.loads((tmp_path / "plan.json").read_text())
    one = plan["trials"][-1]["hash"]
    for file in (tmp_path / "trials" / one).iterdir():
        file.unlink()
    (tmp_path / "trials" / one).rmdir()
    found = beside_the_level(read_results(tmp_path, metrics_of))
    assert list(found) == ["No verdict: the run is not complete."]
