"""The figures of a page: which loads they are of, and the published values beside ours."""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from sample_claim import SITES
from synthetic_run import read_run

from eyelevel.plan.trials import Trial
from eyelevel.replication.answers import MeasuredRun, Runs, answer_claims
from eyelevel.replication.claims import Claims, Figure, list_texts, parse_claims, read_claims
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.figures import _DRAW, Drawn, Material, join_runs
from eyelevel.replication.lab_handshakes import FILE, LabHandshakes
from eyelevel.replication.page import write_page
from eyelevel.report.charts.chart import FORMATS

NONE = LabHandshakes(Path("none"))
COMMON = 'place = "section 1"\nclaim = "It is so."\nscope = "population"\n'


def plan_of(network: str, stacks: str, comparisons: str) -> str:
    return (
        f"sites = {json.dumps(SITES)}\nnetworks = [{json.dumps(network)}]\nstacks = {stacks}\n"
        f'comparisons = {comparisons}\nblocks = 2\nprimary_metric = "page_load_time_ms"\n'
    )


def claims_of(plans: str, figures: str, *tables: str) -> Claims:
    head = f"""[text]
name = "x"
citation = "A. Author: X. 2020."
short = "Author 2020"
plans = ["{plans}"]
figures = ["{figures}"]
"""
    parts = (f'[[claims]]\nid = "X{n}"\n{COMMON}{each}\n' for n, each in enumerate(tables, 1))
    return parse_claims(head + "".join(parts), "x.toml")


def rows_of(chart: Any) -> list[dict[str, str]]:
    """Return the rows of a chart, wherever its specification has them."""
    if isinstance(chart, Mapping):
        sets = [chart.get("values"), *chart.get("datasets", {}).values()]
        if texts := [each for each in sets if isinstance(each, str)]:
            return [row for text in texts for row in csv.DictReader(io.StringIO(text))]
        return [row for key in chart for row in rows_of(chart[key])]
    if isinstance(chart, list):
        return [row for each in chart for row in rows_of(each)]
    return []


def draw(claims: Claims, runs: Runs, data: Path | None = None, lab: LabHandshakes = NONE) -> Drawn:
    (drawn,) = Material(claims, runs, DataSets(data), lab).draw()
    svg = FORMATS["svg"](drawn.chart)
    assert svg.startswith(b"<svg")
    assert drawn.alt.endswith(".")
    return drawn


@pytest.fixture(scope="module")
def wolsing(tmp_path_factory: pytest.TempPathFactory) -> dict[str, MeasuredRun]:
    stacks = '["tcp", "tcp+", "quic"]'
    pairs = '[["quic", "tcp+"], ["tcp+", "tcp"]]'
    folder = tmp_path_factory.mktemp("runs")
    return {
        name: MeasuredRun(read_run(folder / name, text=plan_of(name, stacks, pairs)))
        for name in ("dsl", "lte")
    }


GAIN = 'metrics = ["page_load_time_ms"]\ncomparisons = ["quic/tcp+"]\nnetworks = ["dsl", "lte"]\n'


def test_every_figure_of_the_table_is_drawn_and_texts_name_those_that_exist() -> None:
    assert set(_DRAW) == set(get_args(Figure))
    for name in list_texts():
        assert read_claims(name).text.figures, name


def test_gains_are_of_all_networks_in_one_figure(wolsing: dict[str, MeasuredRun]) -> None:
    claims = claims_of("wolsing-2019", "gain-cdf", GAIN + 'rule = "number"\nnumber = -0.09')
    drawn = draw(claims, {"wolsing-2019": wolsing})
    rows = rows_of(drawn.chart)
    assert {row["network"] for row in rows} == {"dsl", "lte"}
    assert {row["metric"] for row in rows} == {"Page Load Time"}
    assert {row["comparison"] for row in rows} == {"quic against tcp+", "tcp+ against tcp"}
    assert "dsl, lte" in drawn.alt and "6 sites" in drawn.alt
    assert drawn.file == "figures/x-gain-cdf.svg"


def test_published_gains_stand_beside_ours(wolsing: dict[str, MeasuredRun]) -> None:
    numbers = "numbers = { dsl = -0.09, lte = -0.14 }"
    claims = claims_of("wolsing-2019", "mean-gains", GAIN + f'rule = "number"\n{numbers}')
    runs = {"wolsing-2019": wolsing}
    drawn = draw(claims, runs)
    assert drawn.heads[-2:] == ("theirs", "ours [95 %]")
    assert [row[:4] for row in drawn.rows] == [
        ("dsl", "quic/tcp+", "PLT", "−9.0 %"),
        ("lte", "quic/tcp+", "PLT", "−14.0 %"),
    ]
    (answer,) = answer_claims(claims, runs, DataSets(None), NONE).answers
    values = {(row["question"], row["side"]): row for row in rows_of(drawn.chart)}
    for each in answer.rows:
        question = f"{each.row.network}, PLT: quic/tcp+"
        theirs, ours = values[question, "Author 2020"], values[question, "here"]
        assert float(theirs["gain"]) == each.row.number
        assert not theirs["gain_low"]
        assert float(ours["gain"]) == pytest.approx(each.found.value, rel=1e-4)
        assert float(ours["gain_low"]) == pytest.approx(each.found.low, rel=1e-4)


def test_loads_that_do_not_count_are_in_no_figure(
    wolsing: dict[str, MeasuredRun], tmp_path: Path
) -> None:
    def place(trial: Trial) -> tuple[dict[str, float], float]:
        return {"cpu_foreign_share": 0.5}, 1.0

    text = plan_of("mss", '["tcp", "quic"]', '[["quic", "tcp"]]')
    disturbed = MeasuredRun(read_run(tmp_path, text=text, placed=place))
    begun = MeasuredRun(replace(wolsing["lte"].results, unfinished="30 of 36 loads are there"))
    joined = join_runs({"dsl": wolsing["dsl"], "lte": begun, "mss": disturbed})
    assert joined is not None
    assert joined.networks == ["dsl"]
    assert joined.blocks.kept["network"].unique().to_list() == ["dsl"]
    assert join_runs({"lte": begun, "mss": disturbed}) is None


def test_map_has_published_cells_and_ours_which_are_grey_where_they_may_be_zero(
    tmp_path: Path,
) -> None:
    pairs = '[["quic+das-2014", "tcp"], ["tcp", "http1-plain"]]'
    stacks = '["http1-plain", "tcp", "quic+das-2014"]'

    def place(trial: Trial) -> tuple[dict[str, float], float]:
        return {}, 0.7 if trial.network == "das-25-30" and trial.stack == "tcp" else 1.0

    runs = {
        name: MeasuredRun(
            read_run(tmp_path / name, text=plan_of(name, stacks, pairs), placed=place)
        )
        for name in ("das-25-30", "das-5-300")
    }
    claims = claims_of(
        "das-2014",
        "heat-map",
        'metrics = ["page_load_time_ms"]\ncomparisons = ["tcp/http1-plain"]\nrule = "sign"\n'
        'estimator = "median_change"\nleast = 0.1\nnetworks = ["das-25-30", "das-5-300", '
        '"das-1-30"]\nnumbers = { das-25-30 = 0.09, das-5-300 = 0.32, das-1-30 = 0.01 }',
    )
    drawn = draw(claims, {"das-2014": runs})
    cells = {
        (row["comparison"], float(row["rate_mbit_s"]), float(row["rtt_ms"])): row
        for row in rows_of(drawn.chart)
    }
    theirs, ours = "tcp/http1-plain, Author 2020", "tcp/http1-plain, here"
    assert len(cells) == 5  # three of the text, and the two that were measured
    assert float(cells[theirs, 1, 30]["improvement"]) == 0.01
    assert cells[theirs, 1, 30]["claimed"] == "true"
    assert float(cells[ours, 25, 30]["improvement"]) == pytest.approx(0.3, abs=0.03)
    assert cells[ours, 25, 30]["claimed"] == "true"
    assert cells[ours, 5, 300]["claimed"] == "false"
    # The text's number is below the least that its claim tests, and is shown all the same.
    assert [row[:4] for row in drawn.rows] == [
        ("das-25-30", "tcp/http1-plain", "PLT", "+9.0 %"),
        ("das-5-300", "tcp/http1-plain", "PLT", "+32.0 %"),
    ]


def test_sites_curves_are_of_the_metric_that_claims_name(
    wolsing: dict[str, MeasuredRun],
) -> None:
    table = GAIN.replace("page_load_time_ms", "time_to_first_byte_ms") + 'rule = "number"\n'
    claims = claims_of("wolsing-2019", "time-cdf", table + "number = 1.0")
    drawn = draw(claims, {"wolsing-2019": wolsing})
    assert "Time To First Byte" in drawn.title
    assert max(float(row["seconds"]) for row in rows_of(drawn.chart)) < 1.0


THESIS = (
    "DnsLookupTime;TimeOfMeasurement;Url;Path;Ip;Port;ConnectionEstablishmentTime;HttpResponse;"
    "Protocol;TcpHandshakeTimeOptional\n"
)


def test_published_shares_stand_beside_our_quantiles(tmp_path: Path) -> None:
    rows = []
    for host in range(8):
        for minute in range(3):
            at = 1_530_000_000 + 60 * minute
            for version, ms in (("TCP/TLS1.2", 50 + host), ("TCP/TLS1.3", 40)):
                rows.append(f"1;{at};www.h{host}.com;/;192.0.2.{host};443;{ms};200;{version};0.01")
    (tmp_path / "set.csv").write_text(THESIS + "\n".join(rows) + "\n", encoding="utf-8")
    claims = claims_of(
        "wolsing-2019",
        "differences-cdf",
        'data = ["set"]\ncomparisons = ["tls1.3/tls1.2"]\nrule = "number"\n'
        'estimator = "share_faster_by"\nleast_ms = 12\nnumber = 0.9\nmargin = 0.1',
    )
    drawn = draw(claims, {}, tmp_path)
    (row,) = drawn.rows
    assert row[:3] == ("set", "tls1.3/tls1.2", "90.0 % by 12 ms or more (X1)")
    assert row[3].startswith("75.0 % [")
    middle = drawn.heads.index("50 % in ms")
    assert row[middle].startswith("+13.5")  # half of eight hosts with 10 to 17 ms


def attempt(server: str, address: str, protocol: str, block: int, round_trips: float) -> str:
    row = {
        "event": "attempt", "failure": None, "resumed": False, "probed_server": server,
        "address": address, "protocol": protocol, "block": block,
        "connection_us": 100_000 * round_trips + block,
    }  # fmt: skip
    return json.dumps(row)


def test_every_server_of_the_lab_has_a_row_and_what_it_lacks_is_named(tmp_path: Path) -> None:
    v4, v6 = "198.51.100.1", "2001:db8::1"
    about = {"about": {"network": {"rtt_ms_min": 100.0}}, "event": "servers"}
    rows = [json.dumps(about)]
    for block in range(4):
        for server, address, protocol, trips in (
            ("ours", v4, "tls1.2", 3.0),
            ("ours", v4, "quic", 1.0),
            ("ours", v6, "tls1.2", 3.0),
            ("ours", v6, "quic", 1.0),
            ("s_server", v4, "tls1.2", 3.0),
            ("aioquic", v4, "quic", 1.5),
            ("caddy", v4, "quic", 9.9),
        ):
            row = attempt(server, address, protocol, block, trips)
            rows.append(row.replace("null", '"timeout"') if server == "caddy" else row)
    (tmp_path / FILE).write_text("\n".join(rows), encoding="utf-8")
    lab = LabHandshakes(tmp_path / FILE)
    claims = claims_of(
        "wolsing-2019",
        "handshakes-cdf",
        'rule = "number"\nestimator = "handshake_round_trips_saved"\nnumber = 2\nmargin = 0.1\n'
        'comparisons = ["quic/tls1.2"]\nnetworks = ["ours", "ours over IPv6"]',
    )
    drawn = draw(claims, {}, lab=lab)
    by_server = {row[0]: dict(zip(drawn.heads, row, strict=True)) for row in drawn.rows}
    assert list(by_server) == ["ours", "ours over IPv6", "caddy", "s_server", "aioquic"]
    assert by_server["ours over IPv6"]["QUIC saves against TLS 1.2"].startswith("2.00 [")
    assert by_server["s_server"]["QUIC"] == "no QUIC"
    assert by_server["s_server"]["QUIC saves against TLS 1.2"] == ""
    assert by_server["caddy"]["QUIC"] == "none connected"
    assert by_server["aioquic"]["TLS 1.2"] == "no TLS 1.2"
    assert "over 4 servers and 2 address families" in drawn.title
    assert "QUIC takes 1.00 to 1.50 (s_server: no QUIC)" in drawn.title
    assert drawn.title.endswith("not installed here: envoy, hypercorn, nginx")
    (answer,) = answer_claims(claims, {}, DataSets(None), lab).answers
    assert [(each.row.network, each.verdict) for each in answer.rows] == [
        ("ours", "agrees"),
        ("ours over IPv6", "agrees"),
    ]


def test_page_shows_figures_with_words_for_who_does_not_see_them(
    wolsing: dict[str, MeasuredRun],
) -> None:
    numbers = "numbers = { dsl = -0.09, lte = -0.14 }"
    claims = claims_of("wolsing-2019", "mean-gains", GAIN + f'rule = "number"\n{numbers}')
    runs = {"wolsing-2019": wolsing}
    figures = Material(claims, runs, DataSets(None), NONE).draw()
    page = write_page(answer_claims(claims, runs, DataSets(None), NONE), None, figures)
    shown = page.partition("<details>")[0]
    assert f"![{figures[0].alt}](figures/x-mean-gains.svg)" in shown
    assert "| network | comparison | metric | theirs | ours [95 %] |" in shown
    assert "## Figures" not in write_page(answer_claims(claims, {}, DataSets(None), NONE), None)
