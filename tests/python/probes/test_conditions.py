"""Pairs of conditions: made rows whose truth is known."""

import json
from pathlib import Path

import polars as pl
import pytest
from repository import ROOT

from eyelevel.probes.analysis import analyse, conditions_of
from eyelevel.probes.reading import SCHEMA, read_file
from eyelevel.report.pages.probe import probe_page

HANDSHAKES = ("resumed", "resumption_offered", "early_data_offered", "early_data_accepted")
RESUMED = {"resumed": True, "resumption_offered": True}
ZERO_RTT = RESUMED | {"early_data_offered": True, "early_data_accepted": True}
REJECTED = ZERO_RTT | {"early_data_accepted": False}
HOSTS = [f"h{n}" for n in range(8)]


def made(*rows: dict[str, object], file: str = "f") -> pl.DataFrame:
    base = dict.fromkeys(SCHEMA) | dict.fromkeys(HANDSHAKES, False)
    base |= {"file": file, "at_s": 100.0, "family": "v4", "vantage": "here", "protocol": "quic"}
    return pl.DataFrame([base | row for row in rows], schema=SCHEMA)


def over(
    host: str, connection_ms: float, first_byte_ms: float, **more: object
) -> dict[str, object]:
    return {"host": host, "connection_ms": connection_ms, "first_byte_ms": first_byte_ms} | more


def by_names(table: pl.DataFrame) -> dict[str, dict]:
    return {f"{row['a']} - {row['b']}": row for row in conditions_of(table)}


def test_v4_and_v6_are_compared_host_by_host_across_files_and_not_set_by_set() -> None:
    """v6 is 3 ms slower at each host in both; its own hosts are far nearer than v4's."""
    v4 = [over(h, 50.0 + n, 80.0) for n, h in enumerate([*HOSTS, "far-1", "far-2"])]
    v6 = [over(h, 53.0 + n, 80.0, family="v6", at_s=150.0) for n, h in enumerate(HOSTS)]
    near = [over(f"near-{n}", 5.0, 9.0, family="v6") for n in range(30)]
    both = pl.concat([made(*v4), made(*v6, *near, file="g")])
    (row,) = conditions_of(both)
    assert (row["a"], row["b"], row["what"]) == ("v4", "v6", "connection_ms")
    assert (row["protocol"], row["vantage"], row["n"], row["hosts"]) == ("quic", "here", 8, 8)
    assert (row["hosts_both"], row["hosts_a_alone"], row["hosts_b_alone"]) == (8, 2, 30)
    assert row["median_host_ms"]["value"] == row["median_host_ms"]["high"] == -3
    assert row["by_host"] == [{"host": h, "n": 1, "median_ms": -3.0} for h in HOSTS]
    (claimed,) = analyse([both]).conditions
    assert claimed["verdict"] == "a faster"


@pytest.mark.parametrize(
    "other",
    [
        {"at_s": 160.5},
        {"vantage": "there"},
        {"protocol": "tls1.3"},
        {"version": "2"},
        {"failure": "reset"},
        {"connection_ms": None},
        RESUMED,
    ],
)
def test_what_is_no_partner_of_v4_is_left_out(other: dict[str, object]) -> None:
    v4 = [over(h, 50.0, 80.0, version="1") for h in HOSTS]
    v6 = [over(h, 53.0, 80.0, family="v6", version="1") | other for h in HOSTS]
    assert sum(row["n"] for row in conditions_of(made(*v4, *v6))) == 0


def test_places_without_a_name_are_compared_within_their_file_alone() -> None:
    v4 = [over(h, 50.0, 80.0, vantage=None) for h in HOSTS]
    v6 = [over(h, 53.0, 80.0, vantage=None, family="v6") for h in HOSTS]
    (within,) = conditions_of(made(*v4, *v6))
    assert (within["n"], within["vantage"]) == (8, None)
    (across,) = conditions_of(pl.concat([made(*v4), made(*v6, file="g")]))
    assert across["n"] == 0 and across["hosts_both"] == 8
    assert across["median_host_ms"]["undetermined_because"] == "no pairs at most 60 s apart"
    # A place whose name is a file's is not that file's unnamed place.
    named = made(*(row | {"vantage": "f"} for row in v6), file="g")
    assert conditions_of(pl.concat([made(*v4), named])) == []


def test_resumption_is_told_in_connection_time_and_0_rtt_in_the_first_byte() -> None:
    """Truth: resuming saves 4 ms of connection and first byte, 0-RTT 20 ms of the first byte."""
    full = [over(h, 50.0, 100.0) for h in HOSTS]
    resumed = [over(h, 46.0, 96.0, **RESUMED) for h in HOSTS]
    early = [over(h, 46.0, 76.0, **ZERO_RTT) for h in HOSTS]
    rejected = [over(h, 10.0, 10.0, at_s=99.0, **REJECTED) for h in HOSTS]
    refused = [over(h, 10.0, 10.0, resumption_offered=True) for h in HOSTS]
    failed = [over(h, 1.0, 1.0, failure="closed", **each) for h in HOSTS for each in (ZERO_RTT, {})]
    found = by_names(made(*failed, *rejected, *refused, *full, *resumed, *early))
    said = {name: (row["what"], row["n"], row["p50_ms"]["value"]) for name, row in found.items()}
    assert said == {
        "full - resumed": ("connection_ms", 8, 4.0),
        "full - 0-RTT": ("first_byte_ms", 8, 24.0),
        "resumed - 0-RTT": ("first_byte_ms", 8, 20.0),
    }
    assert "0-RTT" not in str(by_names(made(*full, *resumed, *rejected)))


def test_each_handshake_is_compared_with_the_nearest_and_not_all_with_one() -> None:
    """The path becomes slower by 1 ms a second; resuming saves 4 ms at each moment."""
    rows = []
    for n in range(10):
        at = {"at_s": 100.0 + n}
        rows.append(over("h", 50.0 + n, 0.0, **at))
        rows.append(over("h", 46.2 + n, 0.0, **RESUMED | {"at_s": 100.2 + n}))
    (found,) = conditions_of(made(*rows))
    assert found["n"] == 10
    assert (found["p1_ms"]["value"], found["p99_ms"]["value"]) == pytest.approx((3.8, 3.8))


def test_families_are_not_mixed_where_handshakes_are_compared() -> None:
    full = [over(h, 50.0, 100.0) for h in HOSTS]
    resumed = [over(h, 46.0, 96.0, family="v6", **RESUMED) for h in HOSTS]
    assert by_names(made(*full, *resumed))["full - resumed"]["n"] == 0


def test_conditions_are_corrected_together_with_protocols() -> None:
    hosts = HOSTS[:6]
    rows = [over(h, 50.0 + n, 80.0) for n, h in enumerate(hosts)]
    rows += [over(h, 40.0, 80.0, family="v6") for h in hosts]
    (alone,) = analyse([made(*rows)]).conditions
    assert (alone["p_holm"], alone["verdict"]) == (1 / 32, "b faster")
    tls = [over(h, 90.0, 95.0, protocol="tls1.3") for h in hosts]
    both = analyse([made(*rows, *tls)])
    assert [row["p_holm"] for row in (*both.pairs, *both.conditions)] == [1 / 16] * 2
    assert both.conditions[0]["verdict"] == "undetermined"


def test_rows_are_read_with_what_was_offered_and_the_first_byte(tmp_path: Path) -> None:
    row = {"event": "attempt", "host": "h", "protocol": "quic", "first_byte_us": 76_000}
    file = tmp_path / "rows"
    file.write_text(json.dumps(row | ZERO_RTT) + "\n" + json.dumps(row) + "\n", encoding="utf-8")
    first, second = read_file(file).to_dicts()
    assert first["first_byte_ms"] == 76 and all(first[name] for name in HANDSHAKES)
    assert not any(second[name] for name in HANDSHAKES)


def test_the_page_names_hosts_that_are_compared_and_counts_the_others() -> None:
    v4 = [over(h, 50.0, 80.0) for h in [f"h{n}" for n in range(40)]]
    v6 = [over(h, 47.0, 80.0, family="v6") for h in [f"h{n}" for n in range(2, 40)]]
    page = probe_page(analyse([made(*v4, *v6)]))
    assert (
        "quic from here, in connection time: v6 was faster than v4, by 3.0 ms in the median host"
    ) in page
    assert "<td>38</td><td>38</td><td>2</td><td>0</td>" in page
    assert "the 30 of 38 hosts that are farthest from 0" in page


def test_the_thesis_measured_its_families_days_apart_and_lists_of_other_hosts() -> None:
    """Its comparison of v4 and v6 (section 4.2) is of sets; pairs within 60 s there are none."""
    paths = [ROOT.parent / "shared/data/jaeger" / f"vmott17_{f}_QUIC.csv" for f in ("v4", "v6")]
    if not all(path.exists() for path in paths):
        pytest.skip(f"{paths[0]} is absent: the thesis's data are not part of the repository")
    rows = conditions_of(pl.concat([read_file(path) for path in paths]))
    counts = {r["protocol"]: (r["n"], r["hosts_both"], r["hosts_a_alone"]) for r in rows}
    assert counts["quic"][0] == 0 and counts["quic"][2] > 90
