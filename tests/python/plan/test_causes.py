import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan

REST = 'sites = ["a"]\nreference = "tcp+"\nblocks = 2\n'
NETWORKS = 'networks = ["dsl", "mss"]\n'
STACKS = 'stacks = ["tcp+", "quic"]\n'


def plan(causes, stacks=STACKS, networks=NETWORKS):
    return parse_plan(f"{REST}{networks}{stacks}causes = {causes}\n", "plan.toml")


def test_each_cause_is_taken_away_alone_and_all_together():
    made = plan('["handshake", "window", "loss"]')
    by_name = {each.name: each for each in made.stacks}
    assert list(by_name) == [
        "tcp+", "quic", "tcp++warm", "tcp++wide", "tcp++ideal",
        "quic+warm", "quic+wide", "quic+ideal",
    ]  # fmt: skip
    assert by_name["quic+warm"].visit == "warm" and by_name["quic"].visit is None
    assert by_name["quic+ideal"].visit == "warm"
    assert by_name["quic+ideal"].initial_window_packets == 10_000
    assert [each.name for each in made.networks] == ["dsl", "mss", "mss+lossless"]
    assert made.networks[-1].loss_down == made.networks[-1].loss_up == 0
    assert made.causes.networks == {"mss": "mss+lossless"}
    assert made.causes.names == ("handshake", "window", "loss")


def test_one_cause_needs_no_stack_without_all():
    made = plan('["handshake"]')
    assert made.causes.stacks["quic"] == {"handshake": "quic+warm", "all": "quic+warm"}
    assert len(made.stacks) == 4 and len(made.networks) == 2


@pytest.mark.parametrize(
    ("causes", "stacks", "message"),
    [
        ('["handshakes"]', STACKS, "plan.toml:6: .*handshake"),
        ('["think_time"]', STACKS, "plan.toml:6: no stack has a think time"),
        (
            '["handshake"]',
            'stacks = ["tcp+", { name = "tcp++warm", base = "quic" }]\n',
            "plan.toml:6: `tcp\\+\\+warm` is the name of a counterfactual",
        ),
    ],
)
def test_mistakes_name_their_line(causes, stacks, message):
    with pytest.raises(PlanError, match=message):
        plan(causes, stacks)
