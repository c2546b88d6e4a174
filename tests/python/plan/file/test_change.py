import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.change import question_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.from_csv import networks_from_csv, toml_of


def stacks(change, base="tcp+"):
    plan = parse_plan(question_plan(["a.wacz"], change, ["dsl", "lte"], base), "question")
    after, before = plan.stacks[1].name, plan.stacks[0].name
    assert plan.stop and plan.comparisons == (Comparison(after, before),)
    assert plan.title == f"What does {after} change against {before} for a?"
    return {stack.name: stack for stack in plan.stacks}


@pytest.mark.parametrize("change", ["http3", "h3", "tcp+→quic", "tcp+ -> quic"])
def test_http3_is_the_tuned_pair(change):
    assert list(stacks(change)) == ["tcp+", "quic"]


@pytest.mark.parametrize("change", ["iw=10→32", "iw=10->32", "initial_window_packets=10 → 32"])
def test_a_window_before_and_after(change):
    found = list(stacks(change).values())
    assert [stack.initial_window_packets for stack in found] == [10, 32]
    key = change.split("=")[0]
    assert [stack.name for stack in found] == [f"tcp+-{key}-10", f"tcp+-{key}-32"]
    assert found[0].http_version == "h2"


@pytest.mark.parametrize("change", ["tls_version=1.2", "tls_version=1.3→1.2"])
def test_a_value_that_looks_like_a_number_is_what_its_key_takes(change):
    assert [each.tls_version for each in stacks(change).values()] == ["1.3", "1.2"]


@pytest.mark.parametrize(("change", "names"), [("tcp→http3", ["tcp", "quic"]), ("h3→tcp", 0)])
def test_a_word_for_a_stack_may_stand_on_either_side(change, names):
    assert list(stacks(change)) == (names or ["quic", "tcp"])


@pytest.mark.parametrize(
    ("change", "base"),
    [("tcp+→tcp+0rtt", "tcp+"), ("early_data=on", "quic"), ("iw=10", "quic+0rtt")],
)
def test_early_data_is_asked_about_on_repeat_visits(change, base):
    plan = parse_plan(question_plan(["a.wacz"], change, ["dsl"], base), "question")
    assert plan.browser.visit == "repeat"


def test_early_hints_are_asked_about_with_the_recorded_think_time():
    found = list(stacks("early_hints=auto", "quic").values())
    assert [stack.early_hints for stack in found] == ["none", "auto"]
    assert {stack.think_time for stack in found} == {"recorded"}


def test_one_value_is_set_against_the_base():
    found = stacks("cc=bbr")
    assert [stack.congestion_control for stack in found.values()] == ["cubic", "bbr"]
    assert list(found) == ["tcp+", "tcp+-cc-bbr"]
    assert stacks("pacing=off", "quic")["quic-pacing-false"].pacing is False
    assert stacks("cc=bbr", "tcp")["tcp-cc-bbr"].pacing is True


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("", "it is empty; write `http3`"),
        ("htp3", "did you mean `http3`"),
        ("quic→quic", "nothing changes"),
        ("rtt=10", "belongs to a network, .* --networks"),
        ("quic+bbr", "write `tcp\\+→quic\\+bbr`"),
        ("iww=3", "did you mean `iw`"),
        ("iw=", "cannot be read"),
        ("iw=32", "nothing changes"),
        ("cc=bbbr", "congestion_control"),
    ],
)
def test_what_cannot_be_read_names_the_way_out(change, message):
    with pytest.raises(PlanError, match=message):
        stacks(change)


def test_no_network_is_no_question():
    with pytest.raises(PlanError, match="names none; write them separated by commas"):
        question_plan(["a.wacz"], "http3", [])


def test_a_question_takes_networks_by_their_numbers():
    assert 'networks = ["das-1.7-151"]' in question_plan(["agency"], "http3", ["das-1.7-151"])
    with pytest.raises(PlanError, match=r"--networks: `das-0-1`: das-RATE-RTT takes a rate from"):
        question_plan(["agency"], "http3", ["das-0-1"])


def test_users_stand_in_the_place_of_named_networks():
    made = networks_from_csv("percentile,rtt_ms,down_mbit_s\n25,30,40\n75,90,8\n", "f")
    text = question_plan(["a.wacz"], "http3", [], users=toml_of(made))
    plan = parse_plan(text, "question")
    assert plan.networks == tuple(each.network for each in made)
    assert plan.weights == {"p25": 0.5, "p75": 0.5}
