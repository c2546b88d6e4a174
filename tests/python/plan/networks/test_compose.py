"""The words of `eyelevel path`, composed: the path that its shell gives, and its name."""

import hashlib
import json
import tomllib
from dataclasses import fields

import pytest
from repository import ROOT

from eyelevel.base.errors import NetworkError
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NAME_LENGTH_MAX, NetworkWords, compose
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.plan_text import plan_table
from eyelevel.plan.networks.presets import find_network

FOLDER = ROOT / "vectors" / "path_words"
TRACE = FOLDER / "ten-a-second.trace"
TEXT = (FOLDER / "words.json").read_text(encoding="utf-8")
# The Rust shell is held to the same file: crates/lab/src/shell/arguments.rs.
CASES = json.loads(TEXT.replace("{folder}", str(FOLDER.resolve())))


def composed(**words):
    return compose(NetworkWords(**words), read_stages)


def words_of(case):
    options, values = case["words"][::2], case["words"][1::2]
    return {
        option.removeprefix("--").replace("-", "_"): value
        for option, value in zip(options, values, strict=True)
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(case["words"])[:40])
def test_the_path_or_the_refusal_is_that_of_the_shell(case):
    if refused := case.get("refused"):
        with pytest.raises(NetworkError) as error:
            composed(**words_of(case))
        assert str(error.value) == refused
        return
    found = composed(**words_of(case))
    assert lab_path(found.network, found.files) == case["path"]


def test_the_vectors_have_every_word_and_the_presets_as_they_are():
    named = {word for case in CASES for word in words_of(case)}
    # Of --traces the shell asks the tables here.
    assert named == {field.name for field in fields(NetworkWords)} - {"traces"}
    for case in CASES:
        if "preset" in case and (network := words_of(case).get("network")):
            assert lab_path(find_network(network)) == case["preset"]


def test_without_words_it_is_the_default_and_a_preset_is_itself():
    assert composed().network == find_network("dsl")
    assert compose(NetworkWords(), read_stages, "lte").network == find_network("lte")
    assert composed(network="mss").network == find_network("mss")


def test_what_it_comes_to_is_that_of_all_stages():
    more = {"down": "delay 20ms, rate 2 Mbit/s, queue droptail 30ms", "up": "delay 20ms"}
    network = composed(network="dsl", **more).network
    assert (network.rate_down_bit_s, network.rate_up_bit_s) == (2_000_000, 5_000_000)
    # 12 ms at 25 Mbit/s take 150 ms at 2 Mbit/s, were they counted in bytes; they are in time.
    assert (network.rtt_ms_min, network.queue_ms) == (64, 30)


def test_a_trace_keeps_its_digest_and_its_place_is_no_part_of_the_settings():
    digest = hashlib.sha256(TRACE.read_bytes()).hexdigest()
    found = composed(trace_down=str(TRACE), up="rate 1 Mbit/s")
    assert found.files == {digest: str(TRACE.resolve())}
    assert found.network.file_digests() == [digest]
    assert str(TRACE) not in json.dumps(found.network.stated())


def test_a_made_trace_is_kept_by_its_seed_and_played_in_full():
    preset, found = (
        find_network("das-att-30"),
        composed(network="das-att-30", up="loss 1%, delay 10ms, rate 9 Mbit/s"),
    )
    assert len(json.dumps(found.network.stated())) < 2000
    assert found.network.stages_down[1]["synth"] == preset.synth_down.stated()
    made, plain = lab_path(found.network), lab_path(preset)
    assert made["down"][1]["trace"] == plain["down"][1]["trace"]
    assert made["up"][3]["trace"] == plain["up"][0]["trace"]
    assert "synth" not in made["down"][1]
    assert Network.read(found.network.stated()) == found.network
    assert (found.network.rtt_ms_min, found.network.rate_down_bit_s) == (40, 6_700_000)


def test_a_round_trip_alone_has_no_link():
    network = composed(rtt="40ms").network
    assert (network.rate_down_bit_s, network.rate_up_bit_s, network.rtt_ms_min) == (0, 0, 40)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ({"network": "dsl", "down": "loss 1%"}, "dsl + down loss 1%"),
        ({"trace_down": str(TRACE), "rtt": "9ms"}, "rtt 9ms + trace-down ten-a-second.trace"),
        ({"network": "lte", "down": '[{"stage": "loss", "probability": 0.1}]'}, "lte + down"),
        ({"network": "lte", "up": ", ".join(["loss 1%"] * 9)}, "lte + up"),
        (
            {"rtt": "9ms", "down": ", ".join(["loss 1%"] * 7), "up": "loss 2%"},
            "rtt 9ms + down + up loss 2%",
        ),
    ],
)
def test_the_name_says_what_it_was_made_of(words, name):
    assert composed(**words).network.name == name
    assert len(name) <= NAME_LENGTH_MAX


def test_a_plans_table_has_the_same_words():
    words = {"rtt": "9ms", "trace_down": str(TRACE), "up": "loss 2%"}
    (table,) = tomllib.loads(plan_table(NetworkWords(**words), composed(**words)))["networks"]
    name = "rtt 9ms + trace-down ten-a-second.trace + up loss 2 percent"
    assert table == {"name": name, **words}
    preset = NetworkWords(network="das-1.70-151")
    assert plan_table(preset, compose(preset, read_stages)) == 'networks = ["das-1.7-151"]'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"rtt": "40"}, "--rtt: clause 1"),
        ({"rtt": "40ms, loss 1%"}, "--rtt: 40ms, loss 1% is no time; use 40ms"),
        ({"up": "delya 1ms"}, "--up: clause 1"),
        ({"trace_up": "/no/such"}, "--trace-up: /no/such"),
        ({"network": "dls", "up": "loss 1%"}, "--network: unknown network `dls`"),
    ],
)
def test_a_mistake_names_its_option_in_one_line(words, said):
    with pytest.raises(NetworkError) as error:
        composed(**words)
    assert str(error.value).startswith(said)
    assert "\n" not in str(error.value)
