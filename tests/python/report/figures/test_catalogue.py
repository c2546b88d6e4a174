import io
import re

import numpy as np
import polars as pl
import pytest
import synthetic_run
import vl_convert
from repository import ROOT
from sample_record import sample_object
from synthetic_run import metrics_of, read_run, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.charts.chart import FORMATS
from eyelevel.report.charts.paper import break_even_map
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.figures.papers import _between_claims, _crossings

GRID = """\
sites = ["a", "b", "c"]
networks = ["das-3-30", "das-3-60", "das-25-30", "das-25-60", "das-verizon-30", "unshaped"]
stacks = ["tcp", "tcp+", "quic", "quic+sprout"]
reference = "tcp"
blocks = 6
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    made = synthetic_run.record_of

    def record_of(trial, load_ms, outcome="ok"):
        record = made(trial, load_ms, outcome)
        record["objects"] = [fetched(n, load_ms) for n in range(4)]
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic_run, "record_of", record_of)
        write_run(directory, text=GRID)
    return read_results(directory, disagreeing)


def fetched(number, load_ms):
    times = {"started_ms": 10.0 * number, "response_ms": 0.3 * load_ms, "finished_ms": load_ms}
    url = f"https://a.example/{number}.png"
    return sample_object(url=url, resource_type="Image", **times)


def disagreeing(record, frames):
    """Of `tcp+` the first change is late though the rest is early."""
    measured = metrics_of(record, frames)
    if record["trial"]["stack"] == "tcp+":
        measured.metrics["first_visual_change_ms"] *= 1.3
    return measured


def figure(name):
    return next(each for each in (*FIGURES, *TABLES) if each.name == name)


OF_SITES = [each for each in FIGURES if each.name != "single-object"]


@pytest.mark.parametrize("figure", OF_SITES, ids=lambda each: each.name)
def test_every_figure_is_drawn(results, figure):
    rows = figure.rows(results)
    assert rows.height
    svg = vl_convert.vegalite_to_svg(figure.chart(rows, results))
    assert svg.count("<path") > 3 or "<image" in svg


@pytest.mark.parametrize("name", ["disagreement", "gain-cdf"])
@pytest.mark.parametrize(
    ("ending", "begins"), [("pdf", b"%PDF"), ("svg", b"<svg"), ("png", b"\x89PNG")]
)
def test_charts_with_pictures_and_without_become_files(results, name, ending, begins):
    chart = figure(name).chart(figure(name).rows(results), results)
    made = FORMATS[ending](chart)
    assert made.startswith(begins) and b"image/webp" not in made


def test_the_gains_are_those_of_the_records(results):
    rows = FIGURES[0].rows(results).filter(stack="quic")
    assert rows["ratio_of_means"].mean() == pytest.approx(-0.14, abs=0.02)


@pytest.mark.parametrize("name", ["gain-cdf", "significance", "mean-gains", "origins", "extremes"])
def test_the_papers_gain_is_in_no_table_under_the_reports_name(results, name):
    columns = figure(name).rows(results).columns
    assert "ratio_of_means" in columns and not any(each.startswith("gain") for each in columns)
    assert not {"gain_min", "gain_max"} & set(figure("disagreements").rows(results).columns)


def test_the_heat_map_compares_the_medians_over_sites(results):
    heat = figure("heat-map").rows(results)
    assert heat["rtt_ms"].unique().sort().to_list() == [30, 60]
    kept = results.blocks.kept.filter(network="das-3-60")
    medians = kept.group_by("stack", "site").agg(pl.col("speed_index_ms").median())
    typical = dict(medians.group_by("stack").agg(pl.col("speed_index_ms").median()).iter_rows())
    (found,) = heat.filter(network="das-3-60", stack="quic")["improvement"]
    assert found == pytest.approx(1 - typical["quic"] / typical["tcp"])


def test_a_square_of_the_heat_map_has_colour_if_the_verdict_of_its_gain_says_the_same(tmp_path):
    """In noise of four times the difference nothing is claimed; in little of it tcp+ is faster."""
    text = GRID.replace(', "quic", "quic+sprout"', "")
    for noise, claimed in ((0.01, True), (0.28, False)):
        run = read_run(tmp_path / str(noise), text=text, noise=noise)
        squares = figure("heat-map").rows(run)
        assert squares["claimed"].to_list() == [claimed] * squares.height and squares.height == 4


@pytest.fixture(scope="module")
def of_caption(tmp_path_factory):
    """A grid beside which figure 5-1's rate stands with three round trips alone."""
    directory = tmp_path_factory.mktemp("caption")
    rates = ", ".join(f'"das-{rate}-{rtt}"' for rate in (1, 14, 25) for rtt in (30, 60, 120, 300))
    networks = f'networks = [{rates}, "das-24-30", "das-24-120", "das-24-300", "unshaped"]'
    text = "\n".join(networks if "networks" in line else line for line in GRID.splitlines())
    return read_run(directory, text=text.replace("blocks = 6", "blocks = 2"))


def test_figure_5_1_has_the_rates_of_its_caption_and_the_heat_map_those_of_the_grid(of_caption):
    panels = figure("grid-cdf").rows(of_caption)["network"].unique(maintain_order=True).to_list()
    assert panels == [f"das-{rate}-{rtt}" for rate in (1, 14, 24) for rtt in (30, 120, 300)]
    heat = figure("heat-map").rows(of_caption)
    assert heat["rate_mbit_s"].unique().sort().to_list() == [1, 14, 25]


def test_the_nine_panels_have_the_unshaped_loads_beside_them(results):
    rows = figure("grid-cdf").rows(results)
    assert set(rows["network"]) == {"das-3-30", "das-3-60", "das-25-30", "das-25-60"}
    optimal = rows.filter(stack="optimal (unshaped)")
    assert optimal.group_by("network").len()["len"].to_list() == [3] * 4


def test_the_optimal_load_is_that_of_the_fastest_stack_whatever_is_compared(tmp_path):
    """QUIC is the fastest of three, and second in the plan."""
    text = GRID.replace(', "quic+sprout"', "").replace("blocks = 6", "blocks = 1")
    text += 'primary_metric = "page_load_time_ms"\n'
    write_run(tmp_path, {("a/unshaped/1", "quic"): "timeout"}, text=text, noise=0.001)
    for pairs in ([], ["tcp/quic"], ["tcp/tcp+"]):
        rows = figure("grid-cdf").rows(read_results(tmp_path, metrics_of, pairs=pairs))
        optimal = rows.filter(stack="optimal (unshaped)", network="das-3-30").sort("site")
        # Of `a` over QUIC there is no median but endless, so TCP+ is its fastest.
        assert optimal["seconds"].to_list() == pytest.approx([0.93, 0.86, 0.86], rel=0.01)


def test_a_waterfall_has_the_objects_of_one_typical_load_each(results):
    rows = figure("waterfall").rows(results)
    assert rows["load"].unique(maintain_order=True).to_list() == [
        "tcp, a on das-3-30", "tcp+, a on das-3-30",
    ]  # fmt: skip
    bars = rows.filter(pl.col("place").is_not_null())
    # The first object waited before it was sent; the others began later than the sample's sending.
    assert bars.height == 2 * (4 * 2 + 1) and (bars["end_s"] > bars["start_s"]).all()
    assert rows.filter(pl.col("place").is_null())["name"].to_list() == ["FCP", "LCP", "load"] * 2


def test_metrics_that_disagree_are_named_on_both_sides(results):
    rows = figure("disagreements").rows(results)
    assert set(rows["stack"]) == {"tcp+"} and set(rows["higher_by"]) == {"First Visual Change"}
    assert "Speed Index" in rows["lower_by"][0] and rows["spread"].is_sorted(descending=True)


def test_the_controllers_compared_share_their_protocol(results):
    rows = figure("congestion-cdf").rows(results)
    assert set(rows["stack"]) == {"quic", "quic+sprout"}
    assert set(rows["network"]) == {"das-verizon-30"}


def test_a_crossing_has_the_interval_in_which_zero_lies_within_the_bounds():
    x, gain = np.array([0.0, 100.0, 200.0]), np.array([0.2, 0.1, -0.1])
    ((at, start, end),) = _crossings(x, gain, gain - 0.05, gain + 0.05)
    assert at == pytest.approx(150)
    assert (start, end) == (pytest.approx(125, abs=0.2), pytest.approx(175, abs=0.2))
    ((_, start, end),) = _crossings(x, gain, gain - 1, gain + 1)
    assert (start, end) == (0, 200)
    assert _crossings(x, gain + 1, gain, gain + 2) == []


@pytest.mark.parametrize(
    ("findings", "claimed"),
    [
        (["faster", "undecided", "slower"], True),
        (["slower", "undecided", "faster"], True),
        (["faster", "undecided", "undecided"], False),
        (["undecided", "slower", "faster"], False),
        (["undecided"] * 3, False),
    ],
)
def test_a_crossing_is_between_claims_if_its_sides_have_opposite_verdicts(findings, claimed):
    line = pl.DataFrame({"rtt_ms": [30, 60, 120], "finding": findings})
    assert _between_claims(line, "rtt_ms", 45.0) == claimed


@pytest.mark.parametrize("claimed", [False, True])
def test_a_crossing_has_its_colour_between_claims_alone(claimed):
    gains = {"gain": [-0.1, 0.1], "gain_low": [-0.2, -0.1], "gain_high": [0.1, 0.2]}
    place = {"rtt_ms": [30, 60], "rate_mbit_s": [3.0, 3.0], "comparison": ["quic"] * 2}
    rows = pl.DataFrame({**place, "finding": ["undecided"] * 2, **gains})
    crossing = {"crossing": 45.0, "crossing_low": 30.0, "crossing_high": 60.0}
    points = pl.DataFrame([{"comparison": "quic", "rate_mbit_s": 3.0, "between_claims": claimed}])
    points = points.with_columns(pl.lit(value).alias(name) for name, value in crossing.items())
    svg = vl_convert.vegalite_to_svg(break_even_map(rows, points, ("rtt_ms", "rate_mbit_s")))
    assert ('fill="#e8a33d"' in svg) == claimed and ('fill="#8f9598"' in svg) != claimed


def test_the_ten_sites_most_helped_and_hurt_are_each_listed_once(results):
    extremes = next(each for each in TABLES if each.name == "extremes").rows(results)
    sites = extremes.filter(pl.col("site").is_not_null())
    assert sites.group_by("comparison").len()["len"].to_list() == [3, 3, 3]


def test_single_objects_have_a_panel_a_size_and_network(results, tmp_path):
    objects = figure("single-object")
    assert objects.rows(results).is_empty()
    sites = ["synthetic-1x10000-1", "synthetic-1x2-1"]
    text = GRID.replace('["a", "b", "c"]', str(sites).replace("'", '"'))
    run = read_run(tmp_path, text=text.replace("blocks = 6", "blocks = 2"))
    rows = objects.rows(run)
    cells = run.table.select("network", "stack").unique()
    assert rows.height == len(sites) * cells.height
    assert rows["size"].unique(maintain_order=True).to_list() == ["2 B", "10 kB"]
    assert (rows["lower_quartile_ms"] <= rows["median_ms"]).all()
    assert "10 kB, das-3-30" in vl_convert.vegalite_to_svg(objects.chart(rows, run))


def test_the_reference_page_names_every_figure_and_table():
    page = ROOT / "docs" / "reference" / "figures.md"
    said = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page.read_text(encoding="utf-8"), re.M))
    assert said == {each.name for each in (*FIGURES, *TABLES)}


LATE = """\
sites = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 6
"""


@pytest.fixture(scope="module")
def late(tmp_path_factory):
    """quic times out once on 4 of 10 sites of dsl and on every site of lte, else it is faster."""
    directory = tmp_path_factory.mktemp("late")
    outcomes = {(f"{site}/dsl/3", "quic"): "timeout" for site in "abcd"}
    outcomes |= {(f"{site}/lte/3", "quic"): "timeout" for site in "abcdefghij"}
    return read_run(directory, outcomes, text=LATE, noise=0.01)


def test_sites_with_a_timeout_count_among_the_shares_of_sites(late):
    rows = figure("significance").rows(late).filter("primary")
    shares = rows.group_by("network", "anova").len().sort("network", "anova").rows()
    assert shares == [
        ("dsl", "lower", 6),
        ("dsl", "undetermined", 4),
        ("lte", "undetermined", 10),
    ]
    chart = figure("significance").chart(rows, late)
    assert "undetermined" in vl_convert.vegalite_to_svg(chart)


def test_a_curve_ends_below_one_where_sites_are_undetermined(late):
    rows = figure("gain-cdf").rows(late).filter("primary")
    chart = figure("gain-cdf").chart(rows, late)
    (text,) = chart["datasets"].values()
    drawn = pl.read_csv(text.encode())
    assert drawn.filter(network="dsl")["share"].max() == pytest.approx(0.6)
    assert "14 of 20 gains are undetermined" in str(chart["title"])
    vl_convert.vegalite_to_svg(chart)


def test_sites_that_cannot_be_ranked_are_counted(late):
    rows = figure("extremes").rows(late)
    assert rows.height == 10 and rows["ratio_of_means"].null_count() == 10  # none has a gain on lte
    assert rows["networks_undetermined"].to_list() == [2] * 4 + [1] * 6
    assert set(rows["sites_undetermined"]) == {10}
    chart = figure("mean-gains").chart(figure("mean-gains").rows(late), late)
    assert vl_convert.vegalite_to_svg(chart).count(">undetermined<") >= 2


def test_differences_that_are_not_drawn_are_counted(late):
    rows = figure("origins").rows(late)
    assert rows.height == 20 and rows["difference_rtts"].null_count() == 0
    lost = rows.with_columns(
        difference_rtts=pl.when(pl.col("network") == "dsl").then("difference_rtts")
    )
    chart = figure("origins").chart(lost, late)
    assert "10 of 20 differences are not drawn" in str(chart)


def test_slide_14_holds_its_rows_once_in_seconds_and_round_trips(late):
    rows = figure("origins").rows(late)
    (text,) = figure("origins").chart(rows, late)["datasets"].values()
    drawn = pl.read_csv(text.encode())
    drawn = drawn.filter(pl.col("difference_s").is_not_null()).sort("network", "site")
    known = rows.drop_nulls("difference_ms").sort("network", "site")
    assert drawn.height == known.height == 20
    rtts = {network.name: network.rtt_ms_min for network in late.plan.networks}
    for shown, row in zip(drawn.iter_rows(named=True), known.iter_rows(named=True), strict=True):
        assert shown["difference_s"] == pytest.approx(row["difference_ms"] / 1000, rel=1e-4)
        in_rtts = row["difference_ms"] / rtts[row["network"]]
        assert shown["difference_rtts"] == pytest.approx(in_rtts, rel=1e-4)


def test_a_site_that_a_stack_never_brings_stays_among_its_sites(tmp_path):
    outcomes = {(f"a/das-3-30/{block}", "quic"): "timeout" for block in range(1, 7)}
    far = [f"{site}/das-3-60/{block}" for site in "ab" for block in range(1, 7)]
    outcomes |= {(block, "quic"): "timeout" for block in far}
    found = read_run(tmp_path, outcomes, text=GRID)
    rows = figure("grid-cdf").rows(found)
    of_quic = rows.filter(network="das-3-30", stack="quic")["seconds"]
    assert len(of_quic) == 3 and of_quic.is_finite().sum() == 2
    specification = figure("grid-cdf").chart(rows, found)
    (text,) = specification["datasets"].values()
    drawn = pl.read_csv(io.StringIO(text))
    highest = drawn.group_by("network", "stack").agg(pl.max("share"))
    ends = {(network, stack): share for network, stack, share in highest.iter_rows()}
    assert ends["das-3-30", "quic"] == pytest.approx(2 / 3) and ends["das-3-30", "tcp"] == 1
    heat = figure("heat-map").rows(found).filter(stack="quic")
    assert "das-3-30" in heat["network"] and "das-3-60" not in heat["network"]
