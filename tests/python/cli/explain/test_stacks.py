import json
from dataclasses import replace

from synthetic_run import SITES, write_run
from typer.testing import CliRunner

from eyelevel.cli.explain.commands import _describe_measuring, app
from eyelevel.plan.presets import preset_text
from eyelevel.plan.stack_presets import STACKS_BY_NAME

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 2")


def test_a_run_is_explained_with_what_its_browser_knew_and_took_the_network_for(tmp_path) -> None:
    write_run(tmp_path, text=f'visitor = "known"\neffective_connection_type = "measured"\n{TEXT}')
    done = CliRunner().invoke(app, ["stacks", "--run", str(tmp_path), "--json"])
    rows = json.loads(done.stdout)["aspects"]
    found = {row["aspect"]: row["values"] for row in rows if row["kind"] == "set"}
    assert found["time in the browser's scheduler"]["tcp+"] == "servers known beforehand"
    assert set(found["connection type"].values()) == {"measured"}


def test_what_measures_a_stack_is_a_command_that_can_be_given() -> None:
    assert _describe_measuring(["tcp"], "tcp", {}) == ""
    assert _describe_measuring(["tcp", "quic"], "tcp", {}).startswith(
        "; eyelevel validate level --stacks tcp,quic "
    )
    assert " --stacks tcp,mine --plan PLAN measures" in _describe_measuring(
        ["tcp", "mine"], "mine", {}
    )


def test_nobody_is_told_to_measure_a_stack_against_itself() -> None:
    tcp = STACKS_BY_NAME["tcp"]
    planned = {
        "far": replace(tcp, name="far", origin_rtt={"a.example": 90.0}),
        "near": replace(tcp, name="near", origin_rtt={"a.example": 20.0}),
        "quic": STACKS_BY_NAME["quic"],
    }
    assert _describe_measuring(["far", "near"], "far", planned).startswith(
        "; they differ only in the paths"
    )
    said = _describe_measuring(["far", "near", "quic"], "far", planned)
    assert said.startswith("; eyelevel validate level --stacks far,quic --plan PLAN measures")
    assert "--stacks quic,near" in _describe_measuring(["far", "near", "quic"], "near", planned)
