import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.cross_traffic import CrossTraffic
from eyelevel.plan.trials import Site, expand

OF_A_NETWORK = """\
sites = ["agency"]
networks = [
  "dsl",
  { name = "busy", base = "dsl", cross_traffic = { congestion_control = "cubic", flows = 2 } },
]
stacks = ["tcp"]
reference = "tcp"
blocks = 1
"""
OF_THE_PLAN = """\
cross_traffic = { congestion_control = "cubic", flows = 1, direction = "down" }
sites = ["agency"]
networks = [{ base = "dsl", weight = 3 }, { base = "lte", cross_traffic = "none", weight = 1 }]
stacks = ["tcp"]
reference = "tcp"
blocks = 1
"""


def test_a_network_may_have_it():
    plan = parse_plan(OF_A_NETWORK, "plan.toml")
    assert plan.networks[1].cross_traffic == (CrossTraffic("cubic", 2, "down"),)
    trials = expand(plan, [Site("agency", "sha256:1")])
    assert len({trial.hash for trial in trials}) == 2
    flows = ({"congestion_control": "cubic", "flows": 2, "direction": "down"},)
    assert {t.network: t.lab_cross_traffic() for t in trials} == {"dsl": (), "busy": flows}


def test_of_the_plan_it_makes_twins_and_their_names_and_weights():
    plan = parse_plan(OF_THE_PLAN, "plan.toml")
    assert [network.name for network in plan.networks] == ["dsl", "dsl+cross", "lte"]
    assert plan.networks[1].cross_traffic == (CrossTraffic("cubic", 1, "down"),)
    assert plan.weights == {"dsl": 3, "dsl+cross": 3, "lte": 1}


def test_several_kinds_stand_in_a_list():
    text = OF_A_NETWORK.replace(
        '{ congestion_control = "cubic", flows = 2 }',
        '[{ congestion_control = "reno" }, { congestion_control = "bbr", direction = "up" }]',
    )
    kinds = parse_plan(text, "plan.toml").networks[1].cross_traffic
    assert kinds == (CrossTraffic("reno"), CrossTraffic("bbr", 1, "up"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"cubic"', '"vegas"', "`congestion_control`: Input should be 'cubic', 'bbr' or 'reno'"),
        ("flows = 2", "flows = 0", "`flows`: Input should be greater than or equal to 1"),
        ("flows = 2", "flwos = 2", "unknown key `flwos`; did you mean `flows`?"),
        ("congestion_control =", "cc =", "unknown key `cc`; did you mean `congestion_control`?"),
        (
            '{ congestion_control = "cubic", flows = 2 }',
            '[{ congestion_control = "cubic", flows = 60 }, '
            '{ congestion_control = "bbr", flows = 5 }]',
            "cross traffic of 65 flows; use at most 64 in all",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, expected):
    with pytest.raises(PlanError) as caught:
        parse_plan(OF_A_NETWORK.replace(old, new), "plan.toml")
    assert all(problem.startswith("plan.toml:4: ") for problem in caught.value.problems)
    assert any(expected in problem for problem in caught.value.problems)


def test_a_twins_name_that_is_taken_is_refused():
    text = OF_THE_PLAN.replace('base = "lte"', 'name = "dsl+cross", base = "lte"')
    with pytest.raises(PlanError, match=r"plan.toml:1: .*`dsl\+cross` is the twin of `dsl`"):
        parse_plan(text, "plan.toml")
