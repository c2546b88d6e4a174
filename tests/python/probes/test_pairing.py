"""The pairing rule, and the numbers of the thesis's data."""

import numpy as np
import polars as pl
import pytest
from repository import ROOT

from eyelevel.probes.analysis import analyse
from eyelevel.probes.pairing import pair_rows
from eyelevel.probes.reading import SCHEMA, read_file
from eyelevel.report.pages.probe import verdict_sentence

DATA = ROOT.parent / "shared" / "data" / "jaeger"

# Jaeger: n, p5, p50, p95, share above 0.
THESIS = [
    ("emilia_v4_1kTls13", "tls1.3", 8047, 2.786, 9.400, 23.001, 0.9734),
    ("emilia_v4_QUIC_quic_perf_first", "quic", 20373, 7.314, 25.261, 32.321, 0.9818),
    ("vmott17_v4_QUIC", "quic", 4823, 1.434, 18.402, 22.444, 0.9679),
]


def table(*rows: tuple[str, float, str, float]) -> pl.DataFrame:
    """Rows of host, time, protocol (as the thesis writes it), connection time."""
    base = dict.fromkeys(SCHEMA) | {"file": "f", "resumed": False, "split": False}
    return pl.DataFrame(
        [
            base
            | {
                "host": host,
                "at_s": at,
                "version": version,
                "protocol": "quic" if version.startswith("Q") else version,
                "connection_ms": ms,
            }
            for host, at, version, ms in rows
        ],
        schema=SCHEMA,
    )


def test_each_row_takes_the_first_partner_not_the_nearest_and_not_once_only() -> None:
    found = pair_rows(
        table(
            ("h", 100, "tls1.3", 1.0),
            ("h", 130, "tls1.3", 2.0),
            ("h", 128, "tls1.2", 10.0),  # nearest would be 2.0; both rows of A share the first
            ("h", 131, "tls1.2", 20.0),  # one-to-one would give it 2.0
            ("h", 161, "tls1.2", 30.0),  # 61 s after the first, so its partner is the second
            ("h", 191, "tls1.2", 40.0),  # no partner
            ("other", 100, "tls1.2", 50.0),  # another URL
        ),
        "tls1.2",
        "tls1.3",
    )
    assert found.difference_ms.tolist() == [9.0, 19.0, 28.0]
    nearest, one_to_one = [8.0, 18.0, 28.0], [9.0, 18.0]
    assert found.difference_ms.tolist() not in (nearest, one_to_one)


def test_sixty_seconds_apart_are_partners_and_before_is_as_good_as_after() -> None:
    rows = [("h", 160.0, "tls1.3", 1.0), ("h", 100.0, "tls1.2", 3.0), ("h", 220.0, "tls1.2", 4.0)]
    assert pair_rows(table(*rows), "tls1.2", "tls1.3").difference_ms.tolist() == [2.0, 3.0]
    assert pair_rows(table(("h", 160.5, *rows[0][2:]), rows[1]), "tls1.2", "tls1.3").hosts == ()


def test_versions_of_google_quic_are_searched_one_after_the_other() -> None:
    found = pair_rows(
        table(
            ("h", 100, "Q035", 1.0),
            ("h", 100, "Q039", 2.0),
            ("h", 150, "Q043", 3.0),
            ("h", 100, "tls1.2", 10.0),
            ("h", 80, "tls1.2", 10.0),
        ),
        "tls1.2",
        "quic",
    )
    assert found.difference_ms.tolist() == [7.0, 8.0]


def test_rows_of_another_file_are_no_partners() -> None:
    of_a, of_b = table(("h", 1, "tls1.2", 5.0)), table(("h", 1, "tls1.3", 2.0))
    assert pair_rows(pl.concat([of_a, of_b]), "tls1.2", "tls1.3").difference_ms.tolist() == [3.0]
    apart = pl.concat([of_a, of_b.with_columns(file=pl.lit("g"))])
    assert pair_rows(apart, "tls1.2", "tls1.3").difference_ms.size == 0


def test_failed_and_resumed_rows_are_never_paired() -> None:
    whole = table(("h", 1, "tls1.2", 5.0), ("h", 1, "tls1.3", 2.0))
    for column, value in (("failure", "reset"), ("resumed", True), ("connection_ms", None)):
        spoilt = whole.with_columns(pl.lit(value, dtype=SCHEMA[column]).alias(column))
        assert pair_rows(spoilt, "tls1.2", "tls1.3").difference_ms.size == 0


@pytest.mark.parametrize("name, b, n, p5, p50, p95, share", THESIS)
def test_the_thesis_data_give_its_numbers(
    name: str, b: str, n: int, p5: float, p50: float, p95: float, share: float
) -> None:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path} is absent: the thesis's data are not part of the repository")
    values = pair_rows(read_file(path), "tls1.2", b).difference_ms
    assert values.size == n
    assert np.percentile(values, [5, 50, 95]).round(3).tolist() == [p5, p50, p95]
    assert round(float((values > 0).mean()), 4) == share


def test_the_analysis_reports_what_the_pairs_hold() -> None:
    hosts = [f"h{index}" for index in range(12)]
    rows = [(h, 10.0, "tls1.2", 20.0 + i) for i, h in enumerate(hosts)]
    rows += [(h, 12.0, "tls1.3", 15.0) for h in hosts]
    made = analyse([table(*rows)])
    (pair,) = made.as_json()["pairs"]
    assert (pair["file"], pair["a"], pair["b"], pair["n"]) == ("f", "tls1.2", "tls1.3", 12)
    median = pair["p50_ms"]
    assert median["value"] == 10.5 and pair["share_above_5"]["value"] == 11 / 12
    assert 5 <= median["low"] < 10.5 < median["high"] <= 16
    assert [row["family"] for row in made.groups] == ["all", "all", "unknown", "unknown"]


def test_the_verdict_is_of_hosts_corrected_over_files_and_comparisons() -> None:
    """Six hosts have p = 1/32: alone a claim, twice none, whatever they say. Rows of one host add
    nothing. Nine hosts could have said something, and did not."""
    hosts = [f"h{index}" for index in range(6)]

    def file_of(name: str, *rows: tuple[str, float, str, float]) -> pl.DataFrame:
        return table(*rows).with_columns(file=pl.lit(name))

    one = [(h, 10.0, "tls1.2", 20.0 + i) for i, h in enumerate(hosts)]
    one += [(h, 12.0, "tls1.3", 15.0) for h in hosts]
    (alone,) = analyse([file_of("f", *one)]).pairs
    assert alone["median_host_ms"]["value"] == 7.5
    assert alone["median_host_ms"]["low"] == 5 and alone["median_host_ms"]["high"] == 10
    assert alone["p_holm"] == alone["median_host_ms"]["p"] == 1 / 32
    assert alone["verdict"] == "b faster"
    both = analyse([file_of("f", *one), file_of("g", *one)]).pairs
    assert [pair["p_holm"] for pair in both] == [1 / 16] * 2
    assert [pair["verdict"] for pair in both] == ["undetermined"] * 2
    said = verdict_sentence(both[0])
    assert said.startswith("tls1.2 - tls1.3 is +7.5 ms in the median host, undetermined: too few")
    nine = [(f"h{n}", 10.0, "tls1.2", 20.0 + n) for n in range(9)]
    nine += [(f"h{n}", 12.0, "tls1.3", 24.5) for n in range(9)]
    told = analyse([file_of("f", *one), file_of("g", *nine)]).pairs
    assert [pair["verdict"] for pair in told] == ["undetermined", "no clear difference"]
    many = [row for row in one for _ in range(10)]
    (again,) = analyse([file_of("f", *many)]).pairs
    assert again["n"] == 60 and again["median_host_ms"]["p"] == 1 / 32


def test_a_group_over_all_files_has_the_pairs_of_its_family_and_place_alone() -> None:
    """v4 gains 10 ms and v6 30 ms from one place, v4 50 ms from another."""
    parts = []
    places = (("v4", "here", 10), ("v6", "here", 30), ("v4", "there", 50))
    for number, (family, vantage, gained) in enumerate(places):
        ms = 60.0 + 7 * number  # so that a row of another place would be another partner
        rows = [(f"h{n}", 10.0, "tls1.2", ms + gained) for n in range(3)]
        rows += [(f"h{n}", 10.0, "tls1.3", ms) for n in range(3)]
        where = {"family": pl.lit(family), "vantage": pl.lit(vantage), "file": pl.lit("f")}
        parts.append(table(*rows).with_columns(**where))
    groups = analyse([pl.concat(parts)]).groups
    said = {(row["family"], row["vantage"]): (row["n"], row["p50_ms"]["value"]) for row in groups}
    assert said == {
        ("all", "all"): (9, 30),
        ("all", "here"): (6, 20),
        ("all", "there"): (3, 50),
        ("v4", "all"): (6, 30),
        ("v4", "here"): (3, 10),
        ("v4", "there"): (3, 50),
        ("v6", "all"): (3, 30),
        ("v6", "here"): (3, 30),
    }
