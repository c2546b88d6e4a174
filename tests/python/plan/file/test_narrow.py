"""A preset narrowed to some of its networks, stacks and blocks stays a plan."""

import re
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.base.errors import PlanError
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.file.narrow import NOTHING, Narrowing, dump_toml, narrow_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.plan import Plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text

SITES = ["plain", "agency"]


def parse_narrowed(preset: str, narrowing: Narrowing) -> Plan:
    text = narrow_plan(preset_text(preset, SITES, ["plain"]), f"preset {preset}", narrowing)
    return parse_plan(text, preset, site_names=SITES, metric_names=METRICS_BY_NAME)


def test_nothing_narrowed_is_the_same_text() -> None:
    text = preset_text("quickstart", SITES)
    assert narrow_plan(text, "x", NOTHING) == text


@pytest.mark.parametrize("preset", PRESETS_BY_NAME)
def test_every_preset_is_the_same_plan_once_it_is_written_again(preset: str) -> None:
    text = preset_text(preset, SITES, ["plain"])
    whole = parse_plan(text, preset, site_names=SITES, metric_names=METRICS_BY_NAME)
    again = parse_narrowed(preset, Narrowing(blocks=whole.blocks))
    assert replace(again, source=whole.source) == whole


def test_networks_by_pattern_and_stacks_in_the_plans_order() -> None:
    plan = parse_narrowed(
        "wolsing-2019", Narrowing(networks=("m*", "dsl"), stacks=("quic", "tcp+"), blocks=4)
    )
    assert [network.name for network in plan.networks] == ["dsl", "mss"]
    assert [stack.name for stack in plan.stacks] == ["tcp+", "quic"]
    assert plan.comparisons == (Comparison("quic", "tcp+"),)
    assert plan.blocks == 4


def test_stack_that_is_a_table_keeps_its_settings() -> None:
    plan = parse_narrowed("packet-pacing", Narrowing(stacks=("quic", "quic+unpaced")))
    assert [stack.pacing for stack in plan.stacks] == [True, False]


def test_network_of_a_pattern_is_found() -> None:
    plan = parse_narrowed("das-2014", Narrowing(networks=("das-0.3-*0",)))
    assert len(plan.networks) == 10


@pytest.mark.parametrize(
    ("narrowing", "message"),
    [
        (Narrowing(networks=("dls",)), "--networks: unknown network `dls`; did you mean `dsl`?"),
        (Narrowing(stacks=("quick",)), "--stacks: unknown stack `quick`; did you mean `quic`?"),
        (Narrowing(stacks=("quic", "tcp")), "--stacks: no comparison of preset wolsing-2019"),
    ],
)
def test_what_a_plan_does_not_have_is_refused(narrowing: Narrowing, message: str) -> None:
    with pytest.raises(PlanError, match=re.escape(message)):
        parse_narrowed("wolsing-2019", narrowing)


def test_reference_stays() -> None:
    with pytest.raises(PlanError, match="compares with `http1-plain`; name it, too"):
        parse_narrowed("das-2014-object", Narrowing(stacks=("http1",)))


VALUES = st.recursive(
    st.text(max_size=8) | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(-1e9, 1e9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), VALUES, max_size=4))
def test_what_is_written_is_read_back(document: dict[str, object]) -> None:
    assert tomllib.loads(dump_toml(document)) == document
