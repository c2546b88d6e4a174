"""`eyelevel metrics DIR`: a run's metrics from its raw records alone."""

import json

import polars as pl
import pytest
from synthetic_run import write_run
from typer.testing import CliRunner

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.cli.results.metrics import app


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    plan = write_run(directory, {("startup/lte/2", "quic"): "starved"})
    return directory, plan


def test_every_metric_of_every_load_comes_back(run):
    directory, plan = run
    printed = CliRunner().invoke(app, [str(directory), "--json"])
    assert printed.exit_code == 0, printed.output
    loads = json.loads(printed.stdout)
    assert len(loads) == len(plan.stacks) * len(plan.sites) * len(plan.networks) * plan.blocks
    assert set(METRICS_BY_NAME) < set(loads[0])
    for each in loads:
        if each["outcome"] == "ok":
            first, last = each["first_visual_change_ms"], each["last_visual_change_ms"]
            for index in ("speed_index_ms", "perceptual_speed_index_ms"):
                assert first <= each[index] <= last
            assert each["page_load_time_ms"] == last  # as it was drawn
        else:
            assert all(each[name] is None for name in METRICS_BY_NAME)


def test_the_table_and_the_file_agree(run, tmp_path):
    directory, _ = run
    file = tmp_path / "loads.csv"
    assert CliRunner().invoke(app, [str(directory), "--csv", str(file)]).exit_code == 0
    median = pl.read_csv(file).filter(site="startup", network="lte", stack="quic")
    printed = CliRunner().invoke(app, [str(directory)]).stdout
    (line,) = (
        each for each in printed.splitlines() if each.split()[:3] == ["startup", "lte", "quic"]
    )
    assert line.split()[-1] == f"{median['page_load_time_ms'].median():.0f}"
