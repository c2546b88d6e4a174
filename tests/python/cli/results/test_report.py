"""`eyelevel report`: what it prints beside the gains."""

import typer
from synthetic_run import write_run
from typer.testing import CliRunner

from eyelevel.cli.results.report import report

app = typer.Typer()
app.command()(report)


def print_report(directory, outcomes):
    write_run(directory, outcomes)
    done = CliRunner().invoke(app, [str(directory)])
    assert done.exit_code == 0
    return done.stdout.replace("\n", " ")


def test_what_exclusions_do_and_timeouts_are_printed(tmp_path):
    text = print_report(
        tmp_path, {("startup/dsl/1", "quic"): "starved", ("startup/lte/1", "quic"): "timeout"}
    )
    assert "Exclusions: 1 load is left out because the instrument failed (1 of quic)" in text
    assert "Unfinished loads on lte: 1 of 6 with quic and 0 of 6 with tcp did not finish" in text


def test_without_either_nothing_is_said_of_them(tmp_path):
    text = print_report(tmp_path, {})
    assert "Exclusions" not in text and "Timeouts" not in text
