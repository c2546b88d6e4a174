"""Steps after the load in a report: each compared over the pairs of the same blocks."""

import pytest
import synthetic_run
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.page import build_report, summary_of
from eyelevel.store.schema import LoadedObject

ENTRY = dict.fromkeys(LoadedObject.__required_keys__) | {
    "url": "https://a.example/late.png",
    "method": "GET",
    "resource_type": "Image",
    "protocol": "h3",
    "status": 200,
    "encoded_bytes": 1000,
    "from": "network",
}

PLAN = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = 7
capture = false
after_load = ["scroll end", "click a"]
"""
RESPONSE_MS = {"tcp+": 100.0, "quic": 70.0}


def step_of(text, trial, asked_before_ms):
    noise_ms = 2.0 * trial.repetition
    times = {
        "started_ms": 5000.0 - asked_before_ms,
        "response_ms": 5000.0 + RESPONSE_MS[trial.stack] + noise_ms,
        "finished_ms": 5300.0,
    }
    return {
        "step": text, "started_ms": 5000.0, "ended_ms": 6500.0, "documents": 0,
        "load_event_ms": None, "first_contentful_paint_ms": None, "capped": False,
        "final_picture_matches": None, "failed": None, "objects": [ENTRY | times], "frames": [],
    }  # fmt: skip


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        made = synthetic_run.record_of

        def with_steps(trial, load_ms, outcome="ok"):
            record = made(trial, load_ms, outcome)
            if outcome == "ok":
                steps = [step_of("scroll end", trial, 0.0), step_of("click a", trial, 1.0)]
                record["after_load"] = steps
            return record

        patch.setattr(synthetic_run, "record_of", with_steps)
        block = "startup/dsl/2"
        write_run(folder, text=PLAN, outcomes={(block, "quic"): "starved"})
    return folder


def test_a_step_is_compared_over_the_kept_pairs(directory):
    results = read_results(directory, metrics_of)
    scroll, click = results.steps
    (found,) = [each for each in scroll.cells if each.metric == "first_response_ms"]
    kept = results.blocks.kept.height // 2
    assert kept == 7 - len(results.blocks.excluded) and found.pairs == kept
    assert found.difference.value == pytest.approx(-30.0)
    assert found.difference.low is not None and found.median < found.median_reference
    # What was asked for before the input is not the step's.
    counts = {each.median for each in click.cells if each.metric == "object_count"}
    assert counts == {0.0}
    shown = summary_of(results)["after_load"]
    assert [each["step"] for each in shown] == ["scroll end", "click a"]


def test_the_page_shows_each_step_with_its_difference(directory):
    page = build_report(directory, metrics_of).read_text(encoding="utf-8")
    assert "1. scroll end" in page and "2. click a" in page
    assert "<small>−30</small>" in page
