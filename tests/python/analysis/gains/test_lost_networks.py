"""Networks whose blocks are all lost stay in the answer, whatever else there is to say."""

from synthetic_run import metrics_of, read_run, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.page import build_report, summary_of

PLAN = """\
sites = ["startup"]
networks = [{ name = "home", base = "dsl" }, { name = "mobile", base = "lte", weight = 99 }]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 8
"""
STOP = """\
[stop]
blocks_min = 6
"""


def lost(network):
    return {(f"startup/{network}/{n}", "quic"): "starved" for n in range(1, 9)}


def answers(folder, text, outcomes):
    write_run(folder, outcomes, text=text, noise=0.01)
    return summary_of(read_results(folder, metrics_of))["answer"]


def test_the_answer_names_the_network_without_a_result(tmp_path):
    for name, text in (("fixed", PLAN), ("stops", PLAN + STOP)):
        at_home, mobile, overall = answers(tmp_path / name, text, lost("mobile"))
        assert at_home.startswith("On home, quic was faster than tcp by ")
        assert mobile.startswith(
            "On mobile, the comparison of quic with tcp is undetermined: no complete block "
            "is left; "
        )
        assert overall == (
            "Over all networks, weighted, quic against tcp: undetermined (mobile: no complete "
            "block is left)."
        )


def test_every_planned_comparison_is_among_the_gains(tmp_path):
    results = read_run(tmp_path, lost("mobile"), text=PLAN)
    found = {(each["network"], each["metric"]): each for each in summary_of(results)["gains"]}
    assert set(found) == {(net, one) for net in ("home", "mobile") for one in results.metrics}
    assert found["mobile", "speed_index_ms"]["verdict"] == "undetermined"
    assert "undetermined" in build_report(tmp_path, metrics_of).read_text(encoding="utf-8")


def test_without_any_block_the_answer_is_why(tmp_path):
    said, overall = answers(tmp_path, PLAN, lost("mobile") | lost("home"))
    assert said.startswith(
        "No block is complete yet, so there is nothing to compare: 16 of 32 loads"
    )
    assert overall.endswith(
        "undetermined (home: no complete block is left; mobile: no complete block is left)."
    )
