"""`eyelevel compare`: what it prints, and its exit status."""

import json

import pytest
import typer
from synthetic_run import SITES, quickstart_against_tcp, write_run
from typer.testing import CliRunner

from eyelevel.cli.results.compare import compare
from eyelevel.plan.presets import preset_text

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 8")
ARGUMENTS = ["--metric", "page_load_time_ms", "--by", "30"]

app = typer.Typer()
app.command()(compare)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, text=TEXT)
    return str(directory)


def test_equal_runs_pass_and_what_is_assumed_stands_there(run):
    done = CliRunner().invoke(app, [run, run, *ARGUMENTS, "--control-stack", "quic"])
    assert done.exit_code == 0
    assert "compared with quic in its own run, which assumes that both change alike" in done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4 and all(line.startswith("passed: tcp") for line in lines)


def test_the_declared_comparisons_are_asked_about(run):
    done = CliRunner().invoke(app, [run, run, *ARGUMENTS])
    assert done.exit_code == 0 and "compared with tcp+ or tcp in its own run" in done.stderr
    found = [line.split(" changed")[0] for line in done.stdout.splitlines()]
    subjects = "quic.page_load_time_ms on {}", "tcp+.page_load_time_ms on {}"
    assert found == [f"passed: {each.format(on)}" for on in ("dsl", "lte") for each in subjects]


def test_a_metric_may_have_its_short_name(run):
    done = CliRunner().invoke(app, [run, run, "--metric", "plt", "--by", "30"])
    assert done.exit_code == 0 and "quic.page_load_time_ms" in done.stdout
    wrong = CliRunner().invoke(app, [run, run, "--metric", "pltt"])
    assert "unknown metric `pltt`; did you mean `plt`?" in str(wrong.exception)


def test_runs_without_a_common_stack_have_no_verdict_whatever_inconclusive_is_taken_for(
    run, tmp_path
):
    alone = quickstart_against_tcp().replace('"tcp", "tcp+", "quic"', '"quic"')
    write_run(tmp_path, text=alone.replace('reference = "tcp"', 'reference = "quic"'))
    arguments = [run, str(tmp_path), *ARGUMENTS, "--inconclusive", "pass"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 4 and "assumes" not in done.stderr
    assert done.stdout.startswith("no verdict: quic.page_load_time_ms on dsl: its times changed by")
    assert "load what you compare as two stacks of one plan" in done.stdout
    assert json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)["assumes"] is None
