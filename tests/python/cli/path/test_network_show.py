"""What `eyelevel network show` prints can be put into a plan, which then has the same network."""

import json
import tomllib

import pytest
from typer.testing import CliRunner

from eyelevel.cli.path.network import app
from eyelevel.run.trial.traces import read_stages


def test_what_it_prints_is_a_plans_network() -> None:
    words = ["--rtt", "40ms", "--down", "rate 2 Mbit/s, queue droptail 50ms"]
    done = CliRunner().invoke(app, ["show", *words])
    assert done.exit_code == 0
    (table,) = tomllib.loads(done.stdout)["networks"]
    assert table["name"] == "rtt 40ms + down rate 2 Mbit-s queue droptail 50ms"
    down, up = read_stages(table["down"]), read_stages(table["up"])
    assert (down.rate_bit_s, up.rate_bit_s) == (2_000_000, 0)
    assert down.delay_ms_min + up.delay_ms_min == 40
    said = json.loads(CliRunner().invoke(app, ["show", *words, "--json"]).stdout)
    assert tomllib.loads(said["plan"]) == tomllib.loads(done.stdout)
    assert (said["rtt_ms_min"], said["rate_down_bit_s"]) == (40, 2_000_000)


@pytest.mark.parametrize(
    ("words", "plan"),
    [
        ([], 'networks = ["dsl"]'),
        (["--network", "das-1.70-151"], 'networks = ["das-1.7-151"]'),
        (["--network", "das-att-30", "--up", "loss 1%"], None),
    ],
)
def test_presets_are_named_and_made_courses_have_no_text(
    words: list[str], plan: str | None
) -> None:
    said = json.loads(CliRunner().invoke(app, ["show", *words, "--json"]).stdout)
    assert said["plan"] == plan
