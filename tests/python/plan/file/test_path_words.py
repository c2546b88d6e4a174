"""A plan's tables of networks take the words of `eyelevel path`, and mean the same by them."""

import json
from dataclasses import replace

import pytest
from repository import ROOT

from eyelevel.base.errors import PlanError
from eyelevel.base.json_types import JsonObject
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.file.from_document import check_text
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.presets import find_network, find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import parse_plan_document
from eyelevel.plan.trials import Site, expand, plan_document

FOLDER = ROOT / "vectors" / "path_words"
TRACE = FOLDER / "ten-a-second.trace"
CASES = json.loads(
    (FOLDER / "words.json").read_text(encoding="utf-8").replace("{folder}", str(FOLDER.resolve()))
)
HEAD = 'sites = ["agency"]\nstacks = ["tcp", "quic"]\nreference = "tcp"\nblocks = 2\n'


def plan_of(**table: object) -> Plan:
    keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
    readers = Readers(read_trace_file, read_stages, find_recorded_pair)
    text = f'{HEAD}[[networks]]\nname = "mine"\n{keys}'
    return parse_plan(text, "plan.toml", readers=readers)


def network_of(**table: object) -> Network:
    (network,) = plan_of(**table).networks
    return network


def written(plan: Plan) -> JsonObject:
    sites = [Site("agency", "sha256:a")]
    document: JsonObject = json.loads(json.dumps(plan_document(plan, sites, expand(plan, sites))))
    return document


def table_of(case: JsonObject) -> dict[str, object]:
    named = {"network": "base"}
    options = [option.removeprefix("--").replace("-", "_") for option in case["words"][::2]]
    keys = [named.get(option, option) for option in options]
    return dict(zip(keys, case["words"][1::2], strict=True))


def refusal_of(**table: object) -> str:
    with pytest.raises(PlanError) as caught:
        plan_of(**table)
    (problem,) = caught.value.problems
    assert "\n" not in problem
    return problem


@pytest.mark.parametrize(
    "case", [case for case in CASES if "path" in case], ids=lambda case: " ".join(case["words"])
)
def test_a_plans_words_give_the_path_of_the_shell(case: JsonObject) -> None:
    plan = plan_of(**table_of(case))
    assert lab_path(plan.networks[0], plan.trace_files) == case["path"]


@pytest.mark.parametrize(
    "case", [case for case in CASES if "refused" in case], ids=lambda case: " ".join(case["words"])
)
def test_what_the_shell_refuses_a_plan_refuses_or_says_in_keys_of_its_own(case: JsonObject) -> None:
    table = table_of(case)
    if "rtt" in table:
        assert refusal_of(**table).startswith("plan.toml:")
        assert "`rtt`" in refusal_of(**table)
        return
    # A plan's trace is in the place of the preset's link, of which the words know nothing.
    (key,) = table.keys() - {"base"}
    network = network_of(**{**table, key: str(TRACE)})
    assert network.trace_down_sha256 or network.trace_up_sha256
    assert not network.is_staged


def test_words_come_on_top_of_whatever_the_other_keys_describe() -> None:
    described = {"base": "lte", "rtt_ms_min": "100ms", "loss_two_way": "1%"}
    plain = lab_path(network_of(**described))
    found = lab_path(network_of(**described, down="delay 7ms", up="loss 3%"))
    assert found == {
        "down": [*plain["down"], {"stage": "delay", "delay_ms": 7.0}],
        "up": [{"stage": "loss", "probability": 0.03}, *plain["up"]],
    }
    numbers = {"rate_down_bit_s": 10**6, "rate_up_bit_s": 10**6, "rtt_ms_min": 8, "queue_ms": 9}
    network = network_of(**numbers, down="rate 500 kbit/s, queue droptail 30ms")
    assert (network.rate_down_bit_s, network.rate_up_bit_s) == (500_000, 10**6)
    assert (network.rtt_ms_min, network.queue_ms) == (8, 30)


def test_a_made_course_keeps_its_seed_below_the_words() -> None:
    preset = find_network("verizon-lte")
    network = network_of(base="verizon-lte", up="loss 1%")
    assert network.stages_down is not None and preset.synth_down is not None
    assert network.stages_down[1]["synth"] == preset.synth_down.stated()
    assert network.rate_down_bit_s == preset.rate_down_bit_s


def test_cross_traffic_stands_beside_words() -> None:
    flows = [{"congestion_control": "cubic"}]
    for table in ({"rtt": "10ms", "down": "rate 1 Mbit/s"}, {"base": "lte", "up": "loss 1%"}):
        with_flows = network_of(**table)
        text = f"{HEAD}networks = [{{ name = 'mine', "
        text += ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
        text += ", cross_traffic = { congestion_control = 'cubic' } }]"
        readers = Readers(read_trace_file, read_stages, find_recorded_pair)
        (crossed,) = parse_plan(text, "plan.toml", readers=readers).networks
        assert crossed.cross_traffic is not None
        assert [kind.congestion_control for kind in crossed.cross_traffic] == ["cubic"]
        assert replace(crossed, cross_traffic=None) == with_flows, flows


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"rtt": "40"}, 'plan.toml:7: `rtt`: clause 1 ("delay 40")'),
        (
            {"rtt": "40ms, loss 1%"},
            "plan.toml:7: `rtt`: 40ms, loss 1% is no time; use 40ms",
        ),
        ({"rtt": 40}, "plan.toml:7: `rtt`: Input should be a valid string"),
        ({"base": "lte", "rtt": "4ms"}, "plan.toml:8: `rtt` and `base`: a network that has links"),
        ({"queue_ms": 9, "rtt": "4ms"}, "plan.toml:8: `rtt` and `queue_ms`: a network that has"),
        ({"rtt": "4ms", "up": "delya 1ms"}, "plan.toml:8: `up`: clause 1"),
        ({"trace_up": "/no/such"}, "plan.toml:7: `trace_up`: /no/such: "),
        ({"base": "lte", "down": "rate 0 Mbit/s"}, "plan.toml:8: `down`: clause 1"),
        ({"base": "tle", "down": "loss 1%"}, "plan.toml:5: unknown network `tle`; did you mean"),
        ({"down": "none", "loss_up": 0.1}, "plan.toml:5: network `mine` has no `base` and lacks "),
    ],
)
def test_a_mistake_names_its_key_and_line(table: dict[str, object], said: str) -> None:
    assert refusal_of(**table).startswith(said)


def test_what_can_be_dropped_is_named() -> None:
    problem = refusal_of(down="none", loss_up=0.1)
    assert problem.endswith("; or drop `loss_up`: `down` can stand alone")


def test_nothing_reads_stages_where_nobody_can() -> None:
    with pytest.raises(PlanError, match=r"`rtt` and `up`: stages cannot be read here"):
        parse_plan(f"{HEAD}networks = [{{ name = 'x', rtt = '1ms', up = 'none' }}]", "plan.toml")


WORDED = [
    {"rtt": "16.7ms"},
    {"rtt": "9ms", "trace_down": str(TRACE), "trace_up": str(TRACE), "up": "loss 1%"},
    {"trace_down": str(TRACE)},
    {"down": "none"},
    {"base": "das-att-30", "up": "loss 1%, delay 3ms"},
    {"base": "lte", "trace_down": str(TRACE), "down": "loss 1%"},
    {"base": "att-lte", "traces": "{recordings}", "down": f"trace {TRACE}", "up": "loss 1%"},
]


@pytest.mark.parametrize("table", WORDED, ids=lambda table: " ".join(table))
def test_a_document_is_held_to_the_words_of_its_text(
    table: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whose files and data plane are elsewhere: a preset and a round trip are told anyhow."""
    recordings = tmp_path_factory.mktemp("recordings")
    for way in ("down", "up"):
        (recordings / f"ATT-LTE-mine.{way}").write_text("3\n9\n")
    table = {key: str(text).format(recordings=recordings) for key, text in table.items()}
    plan = plan_of(**table)
    read = parse_plan_document(written(plan)).plan
    assert replace(read, sites=plan.sites, trace_files=plan.trace_files) == plan
    check_text(plan, "plan.json", lambda digest: 1_200_000 if "traces" not in table else 2_666_666)
    (network,) = plan.networks
    for way in ("down", "up"):
        stages = getattr(network, f"stages_{way}")
        if "base" not in table and "rtt" not in table:
            continue
        place = 0 if way == "down" else len(stages) - 1
        farther = {"stage": "delay", "delay_ms": 1234.0}
        forged = (*stages[:place], farther, *stages[place + 1 :])
        changed = replace(plan, networks=(replace(network, **{f"stages_{way}": forged}),))
        with pytest.raises(PlanError, match=rf"`networks\.0\.stages_{way}\.{place}\.delay_ms` is"):
            check_text(changed, "plan.json", lambda _digest: 1_200_000)


@pytest.mark.parametrize(
    "words", [{"base": "das-att-30", "up": "loss 1%"}, {"base": "das-att-30", "down": "loss 1%"}]
)
def test_stages_that_no_word_says_are_found(words: dict[str, object]) -> None:
    plan = plan_of(**words)
    (network,) = plan.networks
    assert network.stages_down is not None
    _, course, *_ = network.stages_down
    more = course if "down" in words else {"stage": "loss", "probability": 0.5}
    changed = replace(plan, networks=(replace(network, stages_down=(*network.stages_down, more)),))
    with pytest.raises(PlanError, match=r"`networks\.0\.stages_down` is"):
        check_text(changed, "plan.json", lambda digest: 0)


def test_a_made_trace_in_a_document_is_of_a_known_model() -> None:
    document = written(plan_of(base="das-att-30", up="loss 1%"))
    document["networks"][0]["stages_down"][1]["synth"]["model"] = "/etc/passwd"
    with pytest.raises(PlanError, match=r"the stages name `/etc/passwd`; files are named by their"):
        parse_plan_document(document)
