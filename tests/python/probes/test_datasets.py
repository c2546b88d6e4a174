"""Datasets are held against the thesis's table 3.1; filters take hosts; times are by file."""

import polars as pl
import pytest
from repository import ROOT

from eyelevel.base.errors import ProbeError
from eyelevel.probes.analysis import analyse
from eyelevel.probes.differences import FILES_MAX, times_of
from eyelevel.probes.reading import SCHEMA, datasets_of, period, read_file
from eyelevel.probes.selection import select_connected_by, select_hosts

DATA = ROOT.parent / "shared" / "data" / "jaeger"

# Name, samples as printed, first and last day as printed. The thesis writes one name otherwise.
TABLE_3_1 = [
    ("emilia_v4_1kTls13", 16630, "2018-07-07 to 2018-07-10"),
    ("emilia_v4_3websites_brokendns", 355, "2018-06-15 to 2018-06-17"),
    ("emilia_v4_QUIC_one_measurement", 626, "2018-07-01"),
    ("emilia_v4_QUIC_quic_perf_first", 41895, "2018-07-16 to 2018-07-19"),
    ("vmott17_v4_QUIC", 9930, "2018-08-05 to 2018-08-06"),
    ("vmott17_v6_QUIC", 16451, "2018-07-30 to 2018-08-01"),
]


def thesis(name: str) -> pl.DataFrame:
    path = DATA / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"{path} is absent: the thesis's data are not part of the repository")
    return read_file(path)


def made(*rows: dict[str, object], file: str = "f") -> pl.DataFrame:
    base = dict.fromkeys(SCHEMA) | {"file": file, "resumed": False, "at_s": 86400.0}
    base |= {"connection_ms": 9.0, "family": "v4"}
    return pl.DataFrame([base | row for row in rows], schema=SCHEMA)


@pytest.mark.parametrize("name, printed, days", TABLE_3_1)
def test_table_3_1_counts_each_header_and_has_these_days(
    name: str, printed: int, days: str
) -> None:
    (row,) = datasets_of([thesis(name)])
    assert row["samples"] == printed - 1
    assert period(row) == days
    vantage, family, *_ = name.split("_")
    assert (row["vantages"], row["families"], row["failures"]) == ([vantage], [family], 0)


def test_a_dataset_counts_failed_attempts_and_knows_when_nothing_is_known() -> None:
    table = made(
        {"host": "a", "protocol": "quic", "at_s": 1.5},
        {"host": "b", "protocol": "quic", "failure": "reset", "family": None, "at_s": 90000.0},
        {"host": "b", "protocol": "quic"},
    )
    (row,) = datasets_of([table, table.clear()])
    assert (row["samples"], row["hosts"], row["failures"]) == (3, 2, 1)
    assert (row["first_at"], row["last_at"]) == ("1970-01-01T00:00:01Z", "1970-01-02T01:00:00Z")
    (timeless,) = datasets_of([table.with_columns(at_s=0.0)])
    assert timeless["first_at"] is None and period(timeless) == "not recorded"
    (beyond,) = datasets_of([table.with_columns(at_s=1e17)])
    assert beyond["first_at"] is None


@pytest.mark.parametrize(
    "name, hosts",
    [
        ("emilia_v4_QUIC_quic_perf_first", ["www.google.com", "www.googlevideo.com"]),
        ("vmott17_v4_QUIC", ["www.google.com", "www.googlevideo.com"]),
        ("vmott17_v6_QUIC", ["www.google.com", "www.googlevideo.com"]),
        ("emilia_v4_QUIC_one_measurement", ["www.googlevideo.com"]),
    ],
)
def test_of_his_three_sites_two_connected_over_all_protocols(name: str, hosts: list[str]) -> None:
    (kept,) = select_connected_by([thesis(name)], ["tls1.2", "tls1.3", "quic"])
    assert sorted(kept["host"].unique()) == hosts
    assert kept.height == thesis(name).filter(pl.col("host").is_in(hosts)).height


def test_hosts_have_to_connect_over_all_within_one_file() -> None:
    both = [{"host": "both", "protocol": each} for each in ("tls1.3", "quic")]
    failed = {"host": "failed", "protocol": "quic", "failure": "quic-timeout"}
    unmeasured = {"host": "unmeasured", "protocol": "quic", "connection_ms": None}
    over_tls = [{"host": h, "protocol": "tls1.3"} for h in ("failed", "unmeasured", "apart")]
    twice = [{"host": "twice", "protocol": "quic"}] * 2
    first = made(*both, failed, unmeasured, *over_tls, *twice)
    second = made({"host": "apart", "protocol": "quic"}, file="g")
    kept = select_connected_by([first, second], ["tls1.3", "quic"])
    assert [sorted(set(table["host"])) for table in kept] == [["both"], []]
    assert [row["file"] for row in analyse(kept).datasets] == ["f"]
    with pytest.raises(ProbeError, match="no host in any file connected"):
        select_connected_by([first, second], ["tcp", "quic"])


def test_a_host_is_found_whatever_its_case_and_a_missing_one_is_named() -> None:
    tables = [made({"host": "A.example", "protocol": "quic"}, {"host": "b", "protocol": "tcp"})]
    assert select_hosts(tables, ["a.EXAMPLE."])[0]["host"].to_list() == ["A.example"]
    with pytest.raises(ProbeError, match="--host c: no file has a row for it"):
        select_hosts(tables, ["b", "c"])


def test_times_are_by_file_until_there_are_too_many() -> None:
    tables = [
        made({"host": "h", "protocol": "quic", "connection_ms": float(n)}, file=f"f{n:02}")
        for n in range(FILES_MAX + 1)
    ]
    few = times_of(pl.concat(tables[:-1]))
    assert [(row["file"], row["p50_ms"]["value"]) for row in few] == [
        (f"f{n:02}", n) for n in range(FILES_MAX)
    ]
    (merged,) = times_of(pl.concat(tables))
    assert (merged["file"], merged["n"]) == (None, FILES_MAX + 1)


def test_each_time_is_its_own_and_of_attempts_that_did_not_fail() -> None:
    """Medians 10, 20 and 30 ms; failed attempts took 500 ms until they failed."""
    hosts = [f"h{n}" for n in range(9)]
    spread = range(-4, 5)
    rows = [
        {"host": h, "protocol": "tls1.3", "connection_ms": 30.0 + n, "tcp_ms": 20.0 + n}
        | {"dns_ms": 10.0 + n, "resumed": resumed}
        for h, n in zip(hosts, spread, strict=True)
        for resumed in (False, True)
    ]
    late = dict.fromkeys(("connection_ms", "tcp_ms", "dns_ms"), 500.0)
    failed = [{"host": h, "protocol": "tls1.3", "failure": "reset"} | late for h in hosts]
    found = times_of(made(*rows, *failed))
    said = {(row["what"], row["resumed"]): (row["n"], row["p50_ms"]["value"]) for row in found}
    medians = {"connection_ms": 30, "tcp_ms": 20, "dns_ms": 10}
    assert said == {(what, r): (9, ms) for what, ms in medians.items() for r in (False, True)}
    for row in found:
        for name in ("p50_ms", "p90_ms"):
            assert row[name]["low"] <= row[name]["value"] <= row[name]["high"]
        assert row["p90_ms"]["value"] == medians[row["what"]] + 3.2 and row["p99_ms"]["low"] is None
