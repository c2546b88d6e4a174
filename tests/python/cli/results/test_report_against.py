"""`eyelevel report --against`: comparisons that no plan declared, beside those that one did."""

import json

import pytest
import typer
from synthetic_run import SITES, quickstart_against_tcp, write_run
from typer.testing import CliRunner

from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError
from eyelevel.cli.results.report import report
from eyelevel.plan.presets import preset_text

app = typer.Typer()
app.command()(report)


def test_every_other_stack_is_held_against_it_on_a_page_of_its_own(tmp_path):
    write_run(tmp_path, text=preset_text("quickstart", SITES))
    said = json.loads(
        CliRunner().invoke(app, [str(tmp_path), "--against", "quic", "--json"]).stdout
    )
    asked = [(each["stack"], each["reference"]) for each in said["comparisons"]]
    assert asked == [("tcp", "quic"), ("tcp+", "quic")]
    assert {each["reference"] for each in said["gains"]} == {"quic"}
    assert any("The plan asks about quic against tcp+, tcp+ against tcp" in each
               for each in said["warnings"])  # fmt: skip
    assert said["report"] == str(tmp_path / "report-against-quic.html")
    assert not (tmp_path / "report.html").exists()
    declared = json.loads(CliRunner().invoke(app, [str(tmp_path), "--json"]).stdout)
    assert not any(
        "not the comparisons that the plan declared" in each for each in declared["warnings"]
    )


def test_what_cannot_be_asked_afterwards_is_refused(tmp_path):
    write_run(tmp_path, text=quickstart_against_tcp() + "\n[stop]\n")
    with pytest.raises(PlanError, match="did you mean `quic`"):
        read_results(tmp_path, against="quik")
    with pytest.raises(PlanError, match="the study may stop early"):
        read_results(tmp_path, against="quic")


def test_what_the_plan_asks_anyway_is_its_own_report(tmp_path):
    write_run(tmp_path, text=quickstart_against_tcp())
    assert read_results(tmp_path, against="tcp").declared == ()
    assert len(read_results(tmp_path, against="quic").declared) == 2
