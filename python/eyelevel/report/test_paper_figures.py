import pytest
import vl_convert

from eyelevel.report import read_contents
from eyelevel.report.paper_figures import FIGURES, TABLES
from eyelevel.report.synthetic import metrics_of, write_run

GRID = """\
sites = ["a", "b", "c"]
networks = ["das-3-30", "das-3-60", "das-25-30", "das-25-60"]
stacks = ["tcp", "tcp+", "quic"]
reference = "tcp"
blocks = 6
capture = false
"""


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, text=GRID)
    return read_contents(directory, metrics_of)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda each: each.name)
def test_every_figure_is_drawn(contents, figure):
    rows = figure.rows(contents)
    assert rows.height
    svg = vl_convert.vegalite_to_svg(figure.chart(rows, contents))
    assert svg.count("<path") > 3


def test_the_gains_are_those_of_the_records(contents):
    rows = FIGURES[0].rows(contents).filter(arm="quic")
    assert rows["gain"].mean() == pytest.approx(-0.14, abs=0.02)
    heat = next(each for each in FIGURES if each.name == "heat-map").rows(contents)
    assert heat["rtt_ms"].unique().sort().to_list() == [30, 60]


def test_the_ten_sites_most_helped_and_hurt_are_each_listed_once(contents):
    extremes = next(each for each in TABLES if each.name == "extremes").rows(contents)
    assert extremes.group_by("arm").len()["len"].to_list() == [3, 3]
