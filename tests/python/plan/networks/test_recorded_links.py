"""Recorded traces take the place of an operator's model: found in a folder, refused in one line."""

import hashlib
import json
from dataclasses import replace

import pytest

from eyelevel.base.errors import NetworkError, PlanError
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.load.traces import read_stages as read_tool
from eyelevel.load.traces import read_trace_file
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.__main__ import main
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.run.bundle.bundle import _files

PLAN = """
sites = ["agency"]
networks = [
  "att-lte",
  {{ name = "att", base = "att-lte", traces = "{folder}" }},
  {{ name = "att-far", base = "att-lte-300", traces = "{folder}" }},
]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


def read_stages(text):
    pytest.fail(f"no stages here: {text}")


READERS = Readers(read_trace_file, read_stages, find_recorded_pair)


def in_plan(folder):
    return parse_plan(PLAN.format(folder=folder), "plan.toml", readers=READERS)


def recorded(folder, stem, every_ms):
    """A pair of a second, up half as fast as down."""
    for way, step in (("down", every_ms), ("up", 2 * every_ms)):
        lines = "".join(f"{at}\n" for at in range(step, 1001, step))
        (folder / f"{stem}.{way}").write_text(lines, encoding="ascii")


@pytest.fixture
def checkout(tmp_path):
    """As Mahimahi's is."""
    (tmp_path / "traces").mkdir()
    recorded(tmp_path / "traces", "ATT-LTE-driving", 10)
    recorded(tmp_path / "traces", "ATT-LTE-driving-2016", 20)
    recorded(tmp_path / "traces", "TMobile-UMTS-driving", 50)
    return tmp_path


def test_a_plan_has_the_recorded_link_beside_the_model(checkout):
    plan = in_plan(checkout)
    model, link, far = plan.networks
    assert model.course() == "cellular model" and model.cells()["course"] == "model"
    assert link.course() == "recorded"
    assert link.described().startswith("1.2 Mbit/s down, 0.6 up in the mean (recorded), 120 ms")
    odd = replace(link, rate_down_bit_s=2_019_710)
    assert odd.described().startswith("2.02 Mbit/s down, ")
    # 100 and 50 packets of 12,000 bits a second.
    assert (link.rate_down_bit_s, link.rate_up_bit_s) == (1_200_000, 600_000)
    assert (link.rtt_ms_min, link.queue_ms, link.synth_down) == (120, 1000, None)
    assert far.rtt_ms_min == 300 and far.trace_down_sha256 == link.trace_down_sha256
    file = checkout / "traces" / "ATT-LTE-driving.down"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert plan.trace_files[digest] == str(file.resolve())
    assert lab_path(link, plan.trace_files)["down"][1]["trace"] == str(file.resolve())


def test_a_command_lines_words_take_the_folder(checkout):
    folder = str(checkout)
    found = compose(NetworkWords(network="att-lte-30", traces=folder), read_tool)
    (planned,) = [n for n in in_plan(checkout).networks if n.name == "att"]
    assert found.network.name == "att-lte-30 + traces ATT-LTE-driving"
    assert replace(found.network, name="att", rtt_ms_min=120) == planned
    assert [file.rpartition("/")[2] for file in found.files.values()] == [
        "ATT-LTE-driving.down",
        "ATT-LTE-driving.up",
    ]
    lossy = compose(NetworkWords(network="att-lte", traces=folder, down="loss 1%"), read_tool)
    played, plain = lab_path(lossy.network, lossy.files), lab_path(planned, found.files)
    assert played["down"] == [*plain["down"], {"stage": "loss", "probability": 0.01}]
    assert played["up"] == plain["up"]
    assert lossy.network.name == "att-lte + traces ATT-LTE-driving + down loss 1%"


def test_the_shell_is_told_the_same_path(checkout, capsys):
    folder = str(checkout)
    found = compose(NetworkWords(network="att-lte-30", traces=folder), read_tool)
    assert main(["--network", "att-lte-30", "--traces", folder]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {way: told[way] for way in ("down", "up")} == lab_path(found.network, found.files)
    assert main(["--traces", folder]) == 1
    assert capsys.readouterr().err.startswith(f"--traces {folder}: say whose recordings")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"traces": "T"}, "--traces T: say whose recordings you mean, such as --network att-lte"),
        ({"network": "sprint-3g", "traces": "T"}, "--traces: T: No such file or directory"),
        (
            {"network": "lte", "traces": "T"},
            "--traces: recordings in T for `lte`: they are only for",
        ),
    ],
)
def test_a_mistake_of_the_words_names_the_option(words, said):
    with pytest.raises(NetworkError) as error:
        compose(NetworkWords(**words), read_tool)
    assert str(error.value).startswith(said) and "\n" not in str(error.value)


def test_a_presets_links_take_the_folder_as_load_does(checkout):
    recorded(checkout / "traces", "Verizon-LTE-walk", 4)
    plan = read_plan("das-2014-cellular", ["agency"], traces=str(checkout))
    for name in ("verizon-lte-30", "verizon-lte", "verizon-lte-300", "att-lte-30", "att-lte-300"):
        words = NetworkWords(network=name, traces=str(checkout))
        assert compose(words, read_tool).network in plan.networks
    assert len(plan.networks) == 6
    assert {network.course() for network in plan.networks} == {"recorded"}
    small = read_plan("das-2014-cellular", ["agency"], "small", traces=str(checkout))
    assert [network.rtt_ms_min for network in small.networks] == [30, 300]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("quickstart", "--traces: recordings in F for `dsl`: they are only for operators' links"),
        (
            "das-2014",
            "--traces: recordings in F for `das-[0-9]*`: they are only for operators' links",
        ),
        (
            "das-2014-object",
            "--traces: recordings in F for `unlimited`: they are only for operators'",
        ),
        ("das-2014-cellular", "--traces: F: No such file or directory; name a folder with"),
    ],
)
def test_a_preset_that_has_no_such_links_is_refused_as_load_does(plan, said):
    with pytest.raises(NetworkError) as error:
        read_plan(plan, ["agency"], traces="F")
    assert str(error.value).startswith(said) and "\n" not in str(error.value)


def test_a_plan_file_names_its_folder_itself(tmp_path):
    (tmp_path / "p.toml").write_text("")
    with pytest.raises(PlanError, match=r"--traces, .* are for presets; change the plan"):
        read_plan(str(tmp_path / "p.toml"), [], traces="F")


@pytest.mark.parametrize(
    ("name", "file"),
    [("das-att-30", "ATT-LTE-driving.up"), ("das-verizon-120", "Verizon-LTE-x.up")],
)
def test_the_links_that_das_has_are_their_operators_lte(checkout, name, file):
    recorded(checkout / "traces", "Verizon-LTE-x", 10)
    recorded(checkout / "traces", "Verizon-3G-x", 10)
    assert find_recorded_pair(str(checkout), name)[1].endswith(file)
    with pytest.raises(ValueError, match="they are only for operators' links"):
        find_recorded_pair(str(checkout), "das-3-30")


def test_the_folder_itself_comes_before_the_one_below_it(checkout):
    recorded(checkout, "AT&T-4G-mine", 5)
    assert find_recorded_pair(str(checkout), "att-lte")[0] == str(checkout / "AT&T-4G-mine.down")
    assert find_recorded_pair(str(checkout), "tmobile-3g-30")[1].endswith("TMobile-UMTS-driving.up")


def test_a_bundle_finds_its_files_by_the_folder(checkout):
    plan = in_plan(checkout)
    source = {"networks": [{"name": "att", "base": "att-lte", "traces": str(checkout)}]}
    found = _files(checkout, plan, source)
    assert {digest: str(file) for digest, file in found.items()} == plan.trace_files


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "sprint-3g",
            "no recording of `sprint-3g`, which is a pair of files such as Sprint-3G-NAME",
        ),
        ("sprint-3g", "it has att-lte (ATT-LTE-driving), tmobile-3g (TMobile-UMTS-driving). Name"),
        ("lte", "they are only for operators' links (verizon-lte, "),
    ],
)
def test_what_a_folder_has_not_is_refused_and_no_model_takes_its_place(checkout, name, said):
    with pytest.raises(ValueError) as error:
        find_recorded_pair(str(checkout), name)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_a_folder_without_recordings_or_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="it has none of any operator"):
        find_recorded_pair(str(tmp_path), "att-lte")
    with pytest.raises(ValueError, match="it names no folder; name one with recorded traces"):
        find_recorded_pair("", "att-lte")
    with pytest.raises(ValueError, match="No such file or directory; name a folder"):
        find_recorded_pair(str(tmp_path / "none"), "att-lte")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('name = "x", rate_down_bit_s = 1, traces = "F"', "`base = "),
        ('name = "x", base = "att-lte", traces = "F", trace_up = "a"', "drop `trace_up`"),
        ('name = "x", base = "att-lte", traces = "F", rate_up_bit_s = 9', "drop `rate_up_bit_s`"),
        ('base = "att-lte", traces = "F"', "needs its own `name`"),
        ('name = "x", down = "none", up = "none", traces = "F"', "`base = "),
    ],
)
def test_a_plans_mistake_with_a_folder_has_its_line(checkout, table, said):
    text = PLAN.format(folder=checkout).replace('"att-lte",', f"{{ {table} }},", 1)
    with pytest.raises(PlanError, match=r"plan\.toml:4: ") as error:
        parse_plan(text.replace('"F"', f'"{checkout}"'), "plan.toml", readers=READERS)
    assert said in str(error.value)


def test_a_recording_that_is_damaged_is_named_with_its_line(checkout):
    (checkout / "traces" / "ATT-LTE-driving.up").write_text("1\n9\n3\n", encoding="ascii")
    with pytest.raises(PlanError, match=r"ATT-LTE-driving\.up:3: 3 comes after 9"):
        in_plan(checkout)
