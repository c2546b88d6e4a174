"""What a study that runs until it is sure enough says where it is not."""

import json

from made_up_run import metrics_of, write_run

from eyelevel.analysis.study import read_contents
from eyelevel.report.first_screen.warnings import warnings

PLAN = """title = "Is it sure?"
sites = ["startup"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 12
[stop]
interval_width_max = 0.1
blocks_min = 6
"""


def said(folder, noise, text=PLAN, outcomes=None):
    write_run(folder, text=text, noise=noise, outcomes=outcomes)
    return beside_the_level(read_contents(folder, metrics_of))


def beside_the_level(contents):
    """These runs' machine was never measured, which is not what is asked here."""
    return {head: text for head, text in warnings(contents) if not head.startswith("Level:")}


def test_wide_intervals_are_named_with_what_it_would_take(tmp_path):
    text = said(tmp_path, 0.06)["Not precise enough."]
    assert text.startswith("The interval of quic against tcp on dsl is ")
    assert "; the plan asks for at most 10.0 percentage points, or no wider than the gain." in text
    needed = int(text.removesuffix(" blocks.").rpartition("about ")[2])
    assert 12 < needed < 200


def test_where_no_number_of_blocks_would_do_the_machine_is_named(tmp_path):
    assert "not even 1000 blocks would be enough" in said(tmp_path, 0.35)["Not precise enough."]


def test_narrow_intervals_need_no_warning(tmp_path):
    assert said(tmp_path, 0.01) == {}


def test_many_comparisons_are_counted(tmp_path):
    networks = ", ".join(f'{{ name = "n{n}", base = "dsl" }}' for n in range(6))
    text = PLAN.replace('"dsl", "lte"', networks)
    assert (
        "; 3 more are not precise enough either; the plan asks for"
        in said(tmp_path, 0.3, text)["Not precise enough."]
    )


def test_many_timeouts_leave_no_interval(tmp_path):
    late = {(f"startup/lte/{n}", "quic"): "timeout" for n in (3, 4, 5)}
    found = said(tmp_path, 0.01, outcomes=late)
    assert found["Not precise enough."].startswith(
        "quic against tcp on lte has no interval; the plan asks for"
    )


def test_an_unfinished_run_is_not_judged(tmp_path):
    write_run(tmp_path, text=PLAN, noise=0.35)
    plan = json.loads((tmp_path / "plan.json").read_text())
    one = plan["trials"][-1]["hash"]
    for file in (tmp_path / "trials" / one).iterdir():
        file.unlink()
    (tmp_path / "trials" / one).rmdir()
    found = beside_the_level(read_contents(tmp_path, metrics_of))
    assert list(found) == ["No verdict: the run is not complete."]
