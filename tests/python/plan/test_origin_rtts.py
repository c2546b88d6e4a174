"""Origins' own round trips in a plan: by stack and site, and what of a trial they decide."""

from dataclasses import replace

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.rows import explain
from eyelevel.plan.file.change import question_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.origin_rtt import Place
from eyelevel.plan.trials import Site, Trial, expand

CDN = "cdn.example"
FAR = Site("far", "sha256:a", 1e6, (Place("a.example", "192.0.2.1", 30.0), Place(CDN, "192.0.2.2")))
NEAR = Site("near", "sha256:b", 1e6, (Place("b.example", "192.0.2.7", 4.0),))
TEXT = """\
sites = ["far", "near"]
networks = ["dsl"]
reference = "tcp"
blocks = 1
"""


def trials(more: str, sites: tuple[Site, ...] = (FAR, NEAR)) -> dict[tuple[str, str], Trial]:
    expanded = expand(parse_plan(TEXT + more, "plan.toml"), sites)
    return {(trial.site, trial.stack): trial for trial in expanded}


def test_a_plans_own_round_trips_hold_where_a_stack_does_not_say_its_own() -> None:
    found = trials(
        f'origin_rtt = {{ "a.example" = "recorded", "{CDN}" = "90ms" }}\n'
        f'stacks = ["tcp", {{ name = "near-cdn", base = "tcp", origin_rtt = {{ "{CDN}" = 20 }} }}]'
    )
    own = {key: trial.own_rtts_ms for key, trial in found.items()}
    assert own["far", "tcp"] == {"a.example": 30.0, CDN: 90.0}
    assert own["far", "near-cdn"] == {"a.example": 30.0, CDN: 20.0}
    assert own["near", "tcp"] == own["near", "near-cdn"] == {}


def test_recorded_is_each_sites_own() -> None:
    stack = '{ name = "recorded", base = "tcp", origin_rtt = { "a.example" = "recorded" } }'
    found = trials(f'stacks = ["tcp", {stack}]')
    far, near = found["far", "recorded"], found["near", "recorded"]
    assert (far.own_rtts_ms, near.own_rtts_ms) == ({"a.example": 30.0}, {})
    path, plain = far.lab_path(places=FAR.places), lab_path(far.network_settings)
    beyond = {"stage": "address_delay", "delays_ms": {"192.0.2.1": 15.0}}
    assert path == {"down": [beyond, *plain["down"]], "up": [*plain["up"], beyond]}
    assert near.lab_path(places=NEAR.places) == plain
    assert found["far", "tcp"].lab_path() == plain


def test_a_recorded_round_trip_that_changes_makes_another_trial() -> None:
    more = 'origin_rtt = { "a.example" = "recorded" }\nstacks = ["tcp", "tcp+"]'
    farther = replace(FAR, places=(Place("a.example", "192.0.2.1", 31.0), FAR.places[1]))
    first, second = trials(more), trials(more, (farther, NEAR))
    assert first["far", "tcp"].hash != second["far", "tcp"].hash
    assert first["near", "tcp"].hash == second["near", "tcp"].hash


def test_a_block_shares_the_time_limit_of_its_farthest_origin() -> None:
    stack = f'{{ name = "farther", base = "tcp", origin_rtt = {{ "{CDN}" = "30s" }} }}'
    found = trials(f'stacks = ["tcp", {stack}]\n')
    plain = trials('stacks = ["tcp", "tcp+"]')
    limits = {key: trial.browser.timeout_s for key, trial in found.items()}
    usual_s = plain["far", "tcp"].browser.timeout_s
    assert limits["far", "tcp"] == limits["far", "farther"] > usual_s
    assert limits["near", "tcp"] == plain["near", "tcp"].browser.timeout_s


def test_a_host_of_no_site_is_refused_with_the_known_ones() -> None:
    with pytest.raises(PlanError, match=r"unknown host `cdm[.]example`; did you mean `cdn[.]exam"):
        trials('origin_rtt = { "cdm.example" = 3 }\nstacks = ["tcp", "tcp+"]')


def test_what_a_recording_does_not_have_is_refused_once() -> None:
    with pytest.raises(PlanError) as refused:
        trials('origin_rtt = "recorded"\nstacks = ["tcp", "tcp+"]')
    assert str(refused.value).count(f"far has no recorded round trip of `{CDN}`") == 1


@pytest.mark.parametrize(
    ("change", "names", "own"),
    [
        ("90→20", [f"tcp+-rtt-{CDN}-90ms", f"tcp+-rtt-{CDN}-20ms"], [90.0, 20.0]),
        ("90 -> 20ms", [f"tcp+-rtt-{CDN}-90ms", f"tcp+-rtt-{CDN}-20ms"], [90.0, 20.0]),
        ("1s", ["tcp+", f"tcp+-rtt-{CDN}-1000ms"], [None, 1000.0]),
        ("recorded→0", [f"tcp+-rtt-{CDN}-recorded", f"tcp+-rtt-{CDN}-0ms"], ["recorded", 0.0]),
    ],
)
def test_a_question_about_an_origin(change: str, names: list[str], own: list[object]) -> None:
    plan = parse_plan(question_plan(["a.wacz"], f"rtt:{CDN}={change}", ["dsl"]), "question")
    before, after = plan.stacks
    assert [before.name, after.name] == names
    asked = [stack.origin_rtt and stack.origin_rtt[CDN] for stack in plan.stacks]
    assert asked == own
    # Nothing but this is apart, and it is said.
    same = {"name": "", "origin_rtt": None}
    assert replace(before, **same) == replace(after, **same)
    apart = [row.aspect for row in explain(plan.stacks) if row.differs]
    assert apart == ["round trips by origin"]
    assert [each.settings for each in ASPECTS if each.name in apart] == [("origin_rtt",)]


def test_a_question_about_hosts_of_one_address_names_them_all() -> None:
    plan = parse_plan(question_plan(["a.wacz"], f"rtt:{CDN},b.example=9→5", ["dsl"]), "question")
    assert [each.origin_rtt for each in plan.stacks] == [
        {CDN: 9.0, "b.example": 9.0},
        {CDN: 5.0, "b.example": 5.0},
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("rtt:=90→20", "`rtt:` names no host; write `rtt:cdn.example=90→20`"),
        ("rtt:a.example=", "cannot be read; write `rtt:cdn.example=90→20`"),
        ("rtt:a.example=1→2→3", "cannot be read"),
        ("rtt:a.example=20→20ms", "is `20` on both sides; nothing changes"),
        ("rtt:a.example=0", "nothing changes"),
        ("rtt:a.example=-3→5", "`-3` is not a round trip for `a.example`"),
        ("rtt:a.example,a.example=5", "names a host twice"),
        ("rtt:https://a.example/=5", "write `a.example`"),
        ("rtt=10", "change one origin's own round trip with `rtt:cdn.example=90→20`"),
    ],
)
def test_a_question_that_cannot_be_read_names_the_way_out(change: str, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        question_plan(["a.wacz"], change, ["dsl"])
