"""A plan's networks spelled out in stages: read, refused with file and line, and in force."""

import json
from pathlib import Path

import pytest
from labs import CORPUS

from eyelevel.base.errors import InputChangedError, PlanError
from eyelevel.load.traces import check_trace_files, read_stages, read_trace_file
from eyelevel.load.trial import run_trial
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

TEXT = """\
sites = ["agency"]
stacks = ["tcp+"]
reference = "tcp+"
blocks = 1

[[networks]]
name = "mine"
down = "delay 5ms, TRACE, queue droptail 200ms"
up = "rate 20 Mbit/s, queue codel ecn, delay 5ms"
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    made = tmp_path / "lte.down"
    made.write_text("".join(f"{at}\n" for at in range(1, 101)))  # 12 Mbit/s
    return made


def parse(text: str) -> Plan:
    return parse_plan(
        text, "plan.toml", readers=Readers(read_trace_file, read_stages, find_recorded_pair)
    )


def test_a_plans_stages_are_its_network(trace: Path) -> None:
    plan = parse(TEXT.replace("TRACE", f"trace {trace}"))
    (network,) = plan.networks
    assert (network.rate_down_bit_s, network.rate_up_bit_s) == (12_000_000, 20_000_000)
    assert (network.rtt_ms_min, network.queue_ms) == (10.0, 200.0)
    assert str(trace) not in json.dumps(network.settings())
    assert list(plan.trace_files.values()) == [str(trace)]
    trace.write_text("5\n")
    with pytest.raises(InputChangedError, match="has changed since the plan was read"):
        check_trace_files(plan.trace_files, network)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("TRACE", "loss 2", ':8: `down`: clause 2 ("loss 2"): "2" is not a probability'),
        ("TRACE", "rate 0 Mbit/s", ':8: `down`: clause 2 ("rate 0 Mbit/s")'),
        ("TRACE", "rate -1 Mbit/s", ':8: `down`: clause 2 ("rate -1 Mbit/s")'),
        ("TRACE", "trace /no/such", ":8: `down`: /no/such: "),
        ("20 Mbit/s, queue codel ecn", "20 Mbit/s, qeue codel", ":9: `up`: clause 2"),
        ("TRACE, queue droptail 200ms", "loss 1%", ""),
        ('name = "mine"', 'name = "mine"\nrtt = "5"', ":8: `rtt`: clause 1"),
        ('name = "mine"', 'name = "mine"\nqueue_ms = 9', ":6: network `mine` has no `base`"),
        ('down = "delay 5ms, TRACE, queue droptail 200ms"\nup = "rate 20 Mbit/s, ',
         'down = "none"\nup = "delay 3ms"#', ""),
    ],
)  # fmt: skip
def test_mistakes_name_file_and_line(old: str, new: str, expected: str) -> None:
    text = TEXT.replace(old, new)
    if not expected:
        assert parse(text).networks[0].rate_down_bit_s == 0
        return
    with pytest.raises(PlanError) as caught:
        parse(text.replace("TRACE", "rate 1 Mbit/s"))
    assert caught.value.problems[0].startswith(f"plan.toml{expected}")
    assert len(caught.value.problems) == 1 and "\n" not in caught.value.problems[0]


def test_a_malformed_trace_is_named_with_its_own_line(trace: Path) -> None:
    trace.write_text("5\n9\n7\n")
    with pytest.raises(PlanError) as caught:
        parse(TEXT.replace("TRACE", f"trace {trace}"))
    assert caught.value.problems[0].startswith(f"plan.toml:8: `down`: {trace}:3: ")


def test_a_load_meets_the_stages(labs: None, trace: Path) -> None:
    plan = parse(TEXT.replace("TRACE", f"trace {trace}").replace("200ms", "20 packets"))
    site = open_site(str(CORPUS / "agency.wacz"))
    (trial,) = expand(plan, [site.of_plan()])
    record = run_trial(trial, str(site.path), trace_files=plan.trace_files).record
    down = record["path"]["down"]
    # The page's first flights are more than a queue of 20 packets takes.
    assert down["released_packets"] > 300 and down["dropped"].get("queue-full", 0) > 0
    assert record["trial"]["network_settings"]["stages_down"][0]["stage"] == "delay"
