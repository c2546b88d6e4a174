"""Hosts of a scan's rows that have all that is wanted."""

import json
from pathlib import Path

import pytest

from eyelevel.base.errors import ScanError
from eyelevel.probes.scans import Summary, parse_wanted, read_rows, targets_with

FILE = Path("names.scan.jsonl")
ROW = {"event": "scan", "port": 443, "address": "192.0.2.1", "tls_version": "TLSv1_3"}


def row(name: str, **fields: object) -> dict[str, object]:
    return ROW | {"name": name, "host": name, "tls13": True, "quic": True} | fields


ROWS = [
    row("a.example", host="www.a.example"),
    row("b.example", quic=False),
    row("c.example", tls13=None),
    row("d.example", port=8443),
    row("e.example", tls13=False, tls_version="TLSv1_2"),
    row("2001:db8::1"),
]


def test_a_target_is_the_host_that_has_both_and_the_summary_counts_as_many() -> None:
    found = targets_with(ROWS, parse_wanted("tls1.3, quic"), FILE)
    assert found == {
        "a.example": "www.a.example",
        "d.example": "d.example:8443",
        "2001:db8::1": "[2001:db8::1]",
    }
    summary = Summary()
    for each in ROWS:
        summary.take(each)
    share = next(each for each in summary.shares() if each.feature == "tls13_and_quic")
    assert (share.count, share.of) == (len(found), 5), "of c.example TLS 1.3 is not known"


def test_a_row_that_was_cut_off_is_passed_over_at_the_end_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(each) for each in ROWS]
    path.write_text("\n".join([*lines, lines[0][:40]]), encoding="utf-8")
    assert [each["name"] for each in read_rows(path)] == [each["name"] for each in ROWS]
    path.write_text("\n".join([lines[0], lines[1][:40], lines[2]]), encoding="utf-8")
    with pytest.raises(ScanError, match="line 2: no row of a scan"):
        list(read_rows(path))
    path.write_text('{"name": 5}\n', encoding="utf-8")
    with pytest.raises(ScanError, match="line 1: no row of a scan"):
        list(read_rows(path))


def test_what_is_no_protocol_or_no_host_is_refused_in_a_line() -> None:
    for wrong in ("", "tls1.3,quik", ","):
        with pytest.raises(ScanError, match=r"choose among tls1\.3, quic"):
            parse_wanted(wrong)
    for changed in ({"host": "a\nb"}, {"host": None}, {"port": 0}, {"port": True}):
        with pytest.raises(ScanError, match=rf"^{FILE}: .*drop the row") as raised:
            targets_with([row("a.example", **changed)], ["quic"], FILE)
        assert "\n" not in str(raised.value)
