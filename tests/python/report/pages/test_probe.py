"""The page on probes, from files to text."""

import json
from pathlib import Path

from eyelevel.probes.analysis import analyse, file_labels
from eyelevel.probes.reading import THESIS_COLUMNS, read_files
from eyelevel.report.pages.probe import SENTENCES_SHOWN, probe_page


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
    assert (
        "quic was faster than tls1.2, by 7.5 ms in the median host (95 % interval 5.0 to 10.0 "
        "ms, 6 hosts, p = 0.031 after correction for all comparisons); quic took"
    ) in page
    assert "&lt;ours&gt;.jsonl" in page
    assert "refused: 6 (the port is closed)" in page
    # One host of ours is split by a proxy; the thesis's files do not say.
    row = '<tr><th scope="row">{}</th><td>{}</td><td>0</td><td>none</td><td>{}</td></tr>'
    assert row.format("tls1.2", 6, 1) in page
    assert row.format("tls1.3", 1, "not recorded") in page
    for outside in ('src="http', 'href="http', "url(http"):
        assert outside not in page


def said(tmp_path: Path, *slower_ms: int) -> str:
    ours = tmp_path / "ours.jsonl"
    text = "".join(rows(f"h{n}", each) for n, each in enumerate(slower_ms))
    ours.write_text(text, encoding="utf-8")
    return probe_page(analyse(read_files([ours])))


def test_a_sign_alone_is_no_verdict(tmp_path: Path) -> None:
    page = said(tmp_path, -3, -2, 4, 5, 6, 7)
    assert (
        '<li class="unclear">ours.jsonl: no clear difference between tls1.2 and quic: tls1.2 - '
        "quic is +4.5 ms in the median host (95 % interval -3.0 to +7.0 ms, 6 hosts, p = 0.69 "
        "after"
    ) in page
    assert "was faster" not in page


def test_the_slower_one_is_named_too(tmp_path: Path) -> None:
    page = said(tmp_path, -9, -8, -7, -6, -5, -4)
    assert "tls1.2 was faster than quic, by 6.5 ms in the median host (95 % interval 4.0 to" in page


def test_five_hosts_have_no_interval_of_the_median(tmp_path: Path) -> None:
    page = said(tmp_path, 1, 2, 3, 4, 5)
    assert "tls1.2 - quic is +3.0 ms in the median host, undetermined (5 hosts)" in page
    assert "was faster" not in page


def test_more_comparisons_than_a_small_screen_holds_are_behind_a_word(tmp_path: Path) -> None:
    files = [tmp_path / f"file-{n}.jsonl" for n in range(SENTENCES_SHOWN + 2)]
    text = "".join(rows(f"h{n}", 5 + n) for n in range(6))
    for file in files:
        file.write_text(text, encoding="utf-8")
    page = probe_page(analyse(read_files(files)))
    first, more = page.partition("<summary>2 more comparisons</summary>")[::2]
    assert first.count("<li ") == SENTENCES_SHOWN and more.count("<li ") == 2
    assert ">file-0.jsonl: tls1.2" in first and ">file-5.jsonl: tls1.2" in more
    one_less = probe_page(analyse(read_files(files[:SENTENCES_SHOWN])))
    assert "more comparison" not in one_less


def test_files_of_one_name_are_told_apart() -> None:
    assert file_labels(["a/x", "b/x", "a/y", "a/x"]) == {"a/x": "a/x", "b/x": "b/x", "a/y": "y"}


def test_there_is_a_chart_a_file_and_many_files_are_merged_with_a_sentence(tmp_path: Path) -> None:
    files = [tmp_path / f"file-{n}.jsonl" for n in range(13)]
    for file in files:
        file.write_text(rows("h", 5), encoding="utf-8")
    ten = probe_page(analyse(read_files(files[:10])))
    assert all(f"connection time in file-{n}.jsonl, v4" in ten for n in range(10))
    page = probe_page(analyse(read_files(files[:2])))
    assert "connection time in file-0.jsonl, v4" in page
    assert "connection time in file-1.jsonl, v4" in page
    assert "There are" not in page
    assert '<tr><th scope="row">file-0.jsonl</th><td>3</td><td>not recorded</td>' in page
    merged = probe_page(analyse(read_files(files)))
    assert "There are 13 files, more than 12: times and their curves are of all files" in merged
    assert "connection time, v4" in merged and "connection time in" not in merged
