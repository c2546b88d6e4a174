"""Files in, tables out."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.probes.export import COLUMNS, to_csv, to_thesis_csv, write_parquet
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.reading import read_file
from eyelevel.probes.summary import Summary

ROW = {
    "event": "attempt",
    "host": "a.example",
    "path": "/",
    "address": "192.0.2.1",
    "port": 443,
    "at_unix_us": 1_530_974_559_250_000,
    "protocol": "quic",
    "version": "1",
    "dns_us": 1281,
    "tcp_handshake_us": None,
    "connection_us": 51326,
    "http_status": 200,
    "resumed": False,
    "split_connection": False,
    "vantage": "desk",
    "cnames": ["a.example.edge.example", "e.example"],
    "server": "edge",
    "failure": None,
}


def test_the_thesis_csv_has_its_columns_and_quic_is_named_quicv1(tmp_path: Path) -> None:
    failed = ROW | {"failure": "refused", "connection_us": None}
    tcp = ROW | {"protocol": "tls1.3", "tcp_handshake_us": 9626}
    written = to_thesis_csv([ROW, failed, tcp])
    assert written.splitlines() == [
        "DnsLookupTime;TimeOfMeasurement;Url;Path;Ip;Port;ConnectionEstablishmentTime;"
        "HttpResponse;Protocol;TcpHandshakeTimeOptional",
        "1.281;1530974559;a.example;/;192.0.2.1;443;51.326;200;QUICv1;",
        "1.281;1530974559;a.example;/;192.0.2.1;443;51.326;200;TCP/TLS1.3;9.626",
    ]
    path = tmp_path / "desk_v4_list.csv"
    path.write_text(written, encoding="utf-8")
    read = read_file(path)
    assert read["protocol"].to_list() == ["quic", "tls1.3"]
    assert read["vantage"].to_list() == ["desk", "desk"]
    assert read["connection_ms"].to_list() == [51.326, 51.326]


def test_the_comma_csv_has_every_column_and_what_failed() -> None:
    failed = ROW | {"failure": "refused", "failure_detail": 'no, a "b"', "connection_us": None}
    guarded = ROW | {"server": "=cmd()", "split_connection": True}
    written = to_csv([ROW]) + to_csv([failed, guarded], header=False)
    first, second, third = csv.DictReader(io.StringIO(written))
    assert list(first) == list(COLUMNS)
    assert (first["connection_us"], first["failure"], first["resumed"]) == ("51326", "", "false")
    assert first["cnames"] == "a.example.edge.example e.example"
    assert (second["failure"], second["connection_us"]) == ("refused", "")
    assert second["failure_detail"] == 'no, a "b"'
    assert (third["server"], third["split_connection"]) == ("'=cmd()", "true")


def test_a_summary_has_a_line_a_host_and_protocol() -> None:
    summary = Summary()
    times = {"resumption_offered": False, "first_byte_us": 70_000}
    summary.take(ROW | times)
    assert not summary.is_worth_showing
    for connection_us in (30_000, 90_000):
        summary.take(ROW | times | {"connection_us": connection_us})
    for failure in ("refused", "reset", "refused"):
        summary.take(ROW | times | {"failure": failure, "port": 8443})
    assert summary.is_worth_showing
    one, other = summary.lines()
    assert (one.host, one.attempts, one.failed) == ("a.example", 3, 0)
    assert (one.connection_us, one.first_byte_us, one.classes) == (51_326, 70_000, "")
    assert (other.host, other.attempts, other.failed) == ("a.example:8443", 3, 3)
    assert (other.connection_us, other.classes) == (None, "refused 2, reset 1")


def test_json_lines_and_parquet_read_alike(tmp_path: Path) -> None:
    lines = tmp_path / "rows"
    lines.write_text(
        json.dumps(ROW) + '\n{"event": "host"}\n' + json.dumps(ROW)[:30], encoding="utf-8"
    )
    parquet = tmp_path / "rows.parquet"
    write_parquet([ROW], parquet)
    read = [read_file(path).drop("file").to_dicts() for path in (lines, parquet)]
    assert read[0] == read[1] and len(read[0]) == 1
    assert read[0][0]["connection_ms"] == 51.326 and read[0][0]["family"] == "v4"
    assert read[0][0]["cnames"] == ["a.example.edge.example", "e.example"]
    assert (read[0][0]["address"], read[0][0]["server"]) == ("192.0.2.1", "edge")


def test_servers_of_one_lab_are_hosts_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    rows = [ROW | {"probed_server": name} for name in ("ours", "nginx")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert read_file(path)["host"].to_list() == ["ours", "nginx"]


def test_a_file_of_another_kind_is_named_in_the_error(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(ProbeError, match=r"x\.csv"):
        read_file(path)


def test_intervals_know_that_rows_of_one_host_are_no_independent_evidence() -> None:
    generator = np.random.Generator(np.random.PCG64(7))
    of_host = generator.normal(0, 10, 20)
    values = np.repeat(of_host, 50)
    clustered = [f"h{index // 50}" for index in range(values.size)]
    apart = [f"h{index}" for index in range(values.size)]
    wide, narrow = (quantile_estimates(values, hosts, [50])[0] for hosts in (clustered, apart))
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)
    (share,) = share_estimates(values, clustered, [0])
    assert share.low < (values > 0).mean() < share.high
    assert quantile_estimates(values[:100], clustered[:100], [50])[0].low is None


@pytest.mark.parametrize(
    "content, said",
    [
        (b'{"event": "attempt"}\n', "x, line 1: no row of a probe: it has no host"),
        (
            b'{"event": "attempt", "host": "h", "protocol": "tcp", "dns_us": "1"}\n',
            "x, line 1: dns_us is not a number",
        ),
        (
            b'{"event": "attempt", "host": "h", "protocol": "tcp", "cnames": ["a", 1]}\n',
            "x, line 1: cnames is not a list of names",
        ),
        (
            b'{"event": "attempt", "host": "h", "protocol": "tcp", "server": {}}\n',
            "x, line 1: no row of a probe: no text is its server",
        ),
        (b'{"host": "h", "protocol": "tcp"}\n', "x holds no rows of probes"),
        (b'{"event": "scan", "name": "h"}\n', "x holds no rows of probes"),
        (b"PAR1, but no more", "x: damaged, no whole Parquet"),
    ],
)
def test_what_is_no_file_of_probes_is_refused_in_one_line(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(ProbeError, match=said) as caught:
        read_file(path)
    assert len(str(caught.value).splitlines()) == 1
