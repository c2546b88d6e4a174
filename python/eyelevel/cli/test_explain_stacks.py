import json

from typer.testing import CliRunner

from eyelevel.cli.explain import app
from eyelevel.plan import preset_text
from eyelevel.report.synthetic import SITES, write_run

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 2")


def test_a_run_is_explained_with_what_its_browser_knew_and_took_the_network_for(tmp_path) -> None:
    write_run(tmp_path, text=f'visitor = "known"\neffective_connection_type = "measured"\n{TEXT}')
    done = CliRunner().invoke(app, ["stacks", "--run", str(tmp_path), "--json"])
    rows = json.loads(done.stdout)["aspects"]
    found = {row["aspect"]: row["values"] for row in rows if row["kind"] == "set"}
    assert found["time in the browser's scheduler"]["tcp+"] == "servers known beforehand"
    assert set(found["connection type"].values()) == {"measured"}
