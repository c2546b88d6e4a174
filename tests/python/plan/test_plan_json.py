import json
import re
from dataclasses import asdict, replace

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers, StagesRead, TraceFile
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan_json import parse_plan_document
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text
from eyelevel.plan.trials import Site, expand, plan_document

STAGED = """\
[[networks]]
name = "staged"
down = "delay 20ms, rate 10 Mbit/s, queue droptail 200ms"
up = "none"
"""
EVERYTHING = f"""\
title = "What a plan can say"
sites = ["recordings/www.example.org.wacz", "plain"]
reference = "tcp"
blocks = 7
seed = 3
smallest_effect_of_interest = 0.02
device = "moto-g"
visit = "repeat"
blocked_hosts = ["ads.example"]
after_load = ["scroll end"]
logs = ["qlog", "pcap"]
cross_traffic = {{ congestion_control = "bbr", flows = 2 }}
causes = ["handshake", "window"]
stacks = ["tcp", {{ name = "theirs", base = "quic", visit = "warm", external_server = \
{{ command = ["serve", "--fast"], protocols = ["h3"] }} }}, \
{{ name = "min", base = "quic+sprout", sprout_horizon = "min" }}]
[stop]
[[networks]]
name = "traced"
base = "lte"
weight = 2
trace_down = "lte.down"
{STAGED}[[networks]]
base = "dsl"
name = "lossy"
loss_two_way = "1 %"
"""


def read_trace(name):
    return TraceFile(f"/somewhere/{name}", "ab" * 32, 12_000_000)


def read_stages(text):
    if text == "none":
        return StagesRead((), {}, 0, 0.0, 0.0)
    stages = (
        {"stage": "delay", "delays_ms": "sha256:" + "cd" * 32},
        {"stage": "rate", "rate_bit_s": 10_000_000, "queue": {"limit_ms": 200.0}},
    )
    return StagesRead(stages, {"cd" * 32: "/somewhere/delays"}, 10_000_000, 20.0, 200.0)


def written(plan, sites):
    return json.loads(json.dumps(plan_document(plan, sites, expand(plan, sites))))


def read_back(document, plan):
    """Return the document's plan with the paths of `plan`, which no document has."""
    stored = parse_plan_document(document)
    assert [asdict(trial) for trial in stored.trials] == document["trials"]
    return replace(stored.plan, sites=plan.sites, trace_files=plan.trace_files)


@pytest.mark.parametrize("name", PRESETS_BY_NAME)
def test_every_presets_plan_is_read_back(name):
    plan = parse_plan(preset_text(name, ["a", "b"], (), "small"), "plan.toml")
    sites = [Site(f"site{n}", f"sha256:{n}") for n, _ in enumerate(plan.sites)]
    document = written(plan, sites)
    again = read_back(document, plan)
    assert again == plan
    assert written(again, sites) == document


@pytest.mark.parametrize(
    "text",
    [
        EVERYTHING,
        EVERYTHING.replace('"window"]', '"window", "loss"]').replace(STAGED, ""),
    ],
)
def test_all_that_a_plan_can_say_is_read_back(text):
    plan = parse_plan(
        text, "plan.toml", readers=Readers(read_trace, read_stages, find_recorded_pair)
    )
    sites = [Site("www.example.org", "sha256:1"), Site("plain", "sha256:2")]
    document = written(plan, sites)
    again = read_back(document, plan)
    assert again == plan
    assert written(again, sites) == document


def test_a_device_that_is_known_no_more_is_as_it_was():
    plan = parse_plan(f'device = "moto-g"\n{preset_text("quickstart", ["a"])}', "plan.toml")
    document = written(plan, [Site("a", "sha256:a")])
    document["browser"]["device"]["viewport_px"] = [320, 480]
    assert parse_plan_document(document).plan.browser.stated() == document["browser"]


def test_what_this_eyelevel_does_not_know_is_refused():
    plan = parse_plan(preset_text("quickstart", ["a"]), "plan.toml")
    document = written(plan, [Site("a", "sha256:a")])
    document["stacks"][0]["teleport"] = True
    with pytest.raises(PlanError, match=r"teleport.*use the eyelevel that wrote it"):
        parse_plan_document(document)


def test_a_plan_of_one_stack_compares_nothing_and_is_read_back():
    stated = preset_text("quickstart", ["a"]).replace('"tcp", "tcp+", "quic"', '"quic"')
    text = re.sub(r"(?m)^comparisons = .*$", 'reference = "quic"', stated)
    plan = parse_plan(text, "plan.toml")
    assert plan.comparisons == ()
    assert parse_plan_document(written(plan, [Site("a", "sha256:a")])).plan == plan
