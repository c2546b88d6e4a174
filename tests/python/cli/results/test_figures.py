"""`eyelevel figures`: where its files go, and what it refuses."""

import polars as pl
import pytest
import typer
from synthetic_run import TWO_STACKS, write_run
from typer.testing import CliRunner

from eyelevel.base.errors import ExpectedError
from eyelevel.cli.results.figures import figures

app = typer.Typer()
app.command()(figures)
CURVES = ["--only", "reproducibility"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, text=TWO_STACKS.replace("blocks = 6", "blocks = 1"))
    return folder


def drawn(directory, *words):
    return CliRunner().invoke(app, [str(directory), *words])


def test_what_is_of_one_site_or_another_metric_never_takes_the_whole_runs_place(directory):
    for words in ([], ["--site", "startup"], ["--metric", "plt"]):
        answer = drawn(directory, *CURVES, *words)
        assert answer.exit_code == 0, answer.output
    whole = directory / "figures"
    folders = [whole, whole / "startup", whole / "plt"]
    of_all, of_site, of_time = (pl.read_csv(each / "reproducibility.csv") for each in folders)
    assert set(of_all["site"]) == {"startup", "dashboard"} and set(of_site["site"]) == {"startup"}
    assert of_all.height == of_time.height and of_all["value"].sum() < of_time["value"].sum()
    assert all((each / "reproducibility.svg").exists() for each in folders)


def test_what_was_asked_for_and_cannot_be_made_is_no_success(directory, tmp_path):
    words = ["--out", str(tmp_path), *CURVES, "--only", "heat-map"]
    answer = drawn(directory, *words)
    assert answer.exit_code == 1 and "heat-map (Das 2014, figure 5-2): not made" in answer.output
    assert (tmp_path / "reproducibility.csv").exists()


@pytest.mark.parametrize("words", [["--site", "start"], ["--metric", "size"], ["--only", "map"]])
def test_what_is_unknown_is_refused_in_one_line_and_nothing_is_written(directory, tmp_path, words):
    answer = drawn(directory, "--out", str(tmp_path / "out"), *words)
    assert isinstance(answer.exception, ExpectedError) and "\n" not in str(answer.exception)
    assert not (tmp_path / "out").exists()
