"""The page on probes, from files to text."""

import json
from pathlib import Path

from eyelevel.probes.analysis import analyse, file_labels
from eyelevel.probes.reading import THESIS_COLUMNS, read_files
from eyelevel.report.pages.probe import probe_page


def rows(host: str, slower_ms: int) -> str:
    base = {"event": "attempt", "host": host, "address": "192.0.2.1", "at_unix_us": 0}
    base |= {"failure": None, "resumed": False, "split_connection": host == "h0", "dns_us": 900}
    made = [
        base | {"protocol": "tls1.2", "connection_us": 1000 * (50 + slower_ms)},
        base | {"protocol": "quic", "connection_us": 50_000},
        base | {"protocol": "tcp", "connection_us": None, "failure": "refused"},
    ]
    return "".join(json.dumps(row) + "\n" for row in made)


def test_the_page_says_what_was_found_and_what_failed(tmp_path: Path) -> None:
    ours, thesis = tmp_path / "<ours>.jsonl", tmp_path / "x_v4_one.csv"
    ours.write_text("".join(rows(f"h{n}", 5 + n) for n in range(6)), encoding="utf-8")
    lines = [";".join(THESIS_COLUMNS), "1;0;h;/;192.0.2.1;443;70;200;TCP/TLS1.3;30"]
    thesis.write_text("\n".join(lines), encoding="utf-8")
    page = probe_page(analyse(read_files([ours, thesis])))
    assert "quic took less time than tls1.2 in 100.0% of 6 pairs (100.0% to 100.0%)" in page
    assert "in the median quic was 7.5 ms faster" in page
    assert "&lt;ours&gt;.jsonl" in page
    assert "refused: 6 (the port is closed)" in page
    # One host of ours is split by a proxy; the thesis's files do not say.
    row = '<tr><th scope="row">{}</th><td>{}</td><td>0</td><td>none</td><td>{}</td></tr>'
    assert row.format("tls1.2", 6, 1) in page
    assert row.format("tls1.3", 1, "not recorded") in page
    for outside in ('src="http', 'href="http', "url(http"):
        assert outside not in page


def test_files_of_one_name_are_told_apart() -> None:
    assert file_labels(["a/x", "b/x", "a/y", "a/x"]) == {"a/x": "a/x", "b/x": "b/x", "a/y": "y"}
