"""A study with counterfactuals: the parts are found, and the main answer knows nothing of twins."""

import pytest
import synthetic_run
from synthetic_run import metrics_of, read_run, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.page import build_report, summary_of

PLAN = """\
sites = ["startup", "dashboard"]
networks = ["dsl", { name = "lossy", base = "dsl", loss_two_way = "2 %" }]
stacks = ["tcp+", "quic"]
reference = "tcp+"
blocks = 8
capture = false
causes = ["handshake", "window", "loss"]
"""
# Milliseconds of the page load time that each thing costs; metrics are shares of it.
HANDSHAKE = {"tcp+": 300.0, "quic": 200.0}
WINDOW = {"tcp+": 50.0, "quic": 50.0}
LOSS = {"tcp+": 120.0, "quic": 40.0}
SHARE = 0.6  # the Speed Index's of the load time, in `metrics_of`


def load_ms(trial):
    stack = trial.stack.split("+warm")[0].split("+wide")[0].split("+ideal")[0]
    cost = 400.0
    if trial.browser.visit != "warm":
        cost += HANDSHAKE[stack]
    if trial.stack_settings.initial_window_packets < 1000:
        cost += WINDOW[stack]
    if trial.network_settings.loss_down:
        cost += LOSS[stack]
    return cost


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        made = synthetic_run.record_of

        def record_of(trial, noisy_ms, outcome="ok"):
            jitter_ms = noisy_ms / 1000 - 1  # at most a few milliseconds
            return made(trial, load_ms(trial) + jitter_ms, outcome)

        patch.setattr(synthetic_run, "record_of", record_of)
        write_run(folder, text=PLAN)
    return folder


def test_each_cause_has_its_part(directory):
    results = read_results(directory, metrics_of)
    by_network = {each.network: each.split for each in results.splits}
    assert set(by_network) == {"dsl", "lossy"}
    lossy = by_network["lossy"]
    assert lossy.difference.value == pytest.approx(SHARE * -180, abs=1)
    assert lossy.causes["handshake"].value == pytest.approx(SHARE * -100, abs=1)
    assert lossy.causes["window"].value == pytest.approx(0, abs=1)
    assert lossy.causes["loss"].value == pytest.approx(SHARE * -80, abs=1)
    assert lossy.interaction.value == pytest.approx(0, abs=1.5)
    assert lossy.remaining.value == pytest.approx(0, abs=1)
    assert "loss" not in by_network["dsl"].causes


def test_the_answer_and_its_family_know_no_twin(directory):
    results = read_results(directory, metrics_of)
    assert results.stacks == ["tcp+", "quic"] and results.networks == ["dsl", "lossy"]
    assert {each.stack for each in results.gains} == {"quic"}
    assert {each.network for each in results.gains} == {"dsl", "lossy"}
    assert results.table.height == results.trials_planned == 2 * 2 * 2 * 8
    found = summary_of(results)
    assert len(found["causes"]) == 2 and not any("+" in key[4:] for key in found["outcomes"])


def test_the_page_says_why(directory):
    text = build_report(directory, metrics_of).read_text(encoding="utf-8")
    assert 'id="why"' in text and "is due to handshakes" in text


def test_a_timeout_counts_as_its_limit_and_voids_no_split(tmp_path):
    write_run(tmp_path, {("startup/lossy/3", "quic"): "timeout"}, PLAN)
    results = read_results(tmp_path, metrics_of)
    split = {each.network: each.split for each in results.splits}["lossy"]
    (gain,) = (g for g in results.gains if (g.network, g.metric) == ("lossy", "speed_index_ms"))
    assert split.difference.value == pytest.approx(gain.difference.value)
    assert split.difference.value > 180_000 / 16 - 1000 and split.difference.low is not None


def test_of_a_study_that_may_stop_parts_have_no_interval(tmp_path):
    """Student's t does not allow for stopping when enough was seen."""
    text = (
        'sites = ["startup"]\nnetworks = ["lte"]\nstacks = ["tcp", "quic"]\nreference = "tcp"\n'
        'blocks = 8\ncauses = ["handshake"]\n'
    )
    stops = text + "[stop]\n"
    (fixed,), (sequential,) = (
        read_run(tmp_path / name, text=plan).splits
        for name, plan in (("fixed", text), ("stops", stops))
    )
    for part, alone in (
        (fixed.split.difference, sequential.split.difference),
        (fixed.split.causes["handshake"], sequential.split.causes["handshake"]),
        (fixed.split.interaction, sequential.split.interaction),
        (fixed.split.remaining, sequential.split.remaining),
    ):
        assert part.low is not None or part.reason
        assert alone.value == part.value and (alone.low, alone.high, alone.p) == (None,) * 3
    assert fixed.split.difference.determined
    assert "could stop" in sequential.split.difference.reason
