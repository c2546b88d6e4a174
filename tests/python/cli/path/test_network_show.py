"""What `eyelevel network show` prints can be put into a plan, which then has the same network."""

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eyelevel.cli.path.network import app
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers
from eyelevel.plan.networks.presets import find_recorded_pair

PLAN = 'sites = ["agency"]\nstacks = ["tcp", "quic"]\nreference = "tcp"\nblocks = 2\n'


def test_what_it_prints_is_a_plans_network() -> None:
    words = ["--rtt", "40ms", "--down", "rate 2 Mbit/s, queue droptail 50ms"]
    done = CliRunner().invoke(app, ["show", *words])
    assert done.exit_code == 0
    (table,) = tomllib.loads(done.stdout)["networks"]
    assert table["name"] == "rtt 40ms + down rate 2 Mbit-s queue droptail 50ms"
    assert table == {**table, "rtt": "40ms", "down": "rate 2 Mbit/s, queue droptail 50ms"}
    said = json.loads(CliRunner().invoke(app, ["show", *words, "--json"]).stdout)
    assert tomllib.loads(said["plan"]) == tomllib.loads(done.stdout)
    assert (said["rtt_ms_min"], said["rate_down_bit_s"]) == (40, 2_000_000)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--network", "das-1.70-151"],
        ["--network", "das-att-30", "--up", "loss 1%"],
        [
            "--network",
            "att-lte",
            "--traces",
            "T",
            "--down",
            '[{"stage": "loss", "probability": 1}]',
        ],
        ["--rtt", "16.7ms", "--trace-down", "T/ATT-LTE-it's.down", "--up", "none"],
    ],
)
def test_in_a_plan_it_is_the_same_network(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("T").mkdir()
    for way in ("down", "up"):
        Path(f"T/ATT-LTE-it's.{way}").write_text("1\n5\n")
    said = json.loads(CliRunner().invoke(app, ["show", *words, "--json"]).stdout)
    readers = Readers(read_trace_file, read_stages, find_recorded_pair)
    plan = parse_plan(f"{PLAN}{said['plan']}\n", "plan.toml", readers=readers)
    (network,) = plan.networks
    assert network.stated(without=("name",)).items() <= said.items()
