"""Lists of hosts: every form that is published, and the same rules for whoever reads one."""

import random
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from eyelevel.base.errors import CorpusError, ProbeError, ScanError
from eyelevel.base.from_outside.host_lists import COLUMNS, parse_host
from eyelevel.base.from_outside.limits import WORD_LINE_BYTES_MAX
from eyelevel.probes.scans import count_names, read_names, read_opt_out
from eyelevel.probes.targets import parse_target, read_targets
from eyelevel.sites.corpora.pages import read_pages

LISTS = {
    "names": "www.d.test\nAPI.d.test.\n",
    "Tranco": "1,www.d.test\n2,api.d.test\n",
    "CrUX": "origin,rank\nhttps://www.d.test,1000\nhttp://api.d.test,1000\n",
    "CrUX without its heading": "https://www.d.test,1000\nhttps://api.d.test/,1000\n",
    "Majestic": 'GlobalRank,TldRank,Domain,TLD\n1,1,www.d.test,test\n2,2,api.d.test,"test"\n',
    "DomCop": '"Rank","Domain","Open Page Rank"\n"1","www.d.test","10.00"\n"2","api.d.test",""\n',
    "Moz": '"Rank","Root Domain"\n"1","www.d.test"\n"2","api.d.test"\n',
    "Radar": "domain\nwww.d.test\napi.d.test\n",
    "Excel": "sep=;\nRank;Domain\n1;www.d.test\n2;api.d.test\n",
    "tabs": "1\twww.d.test\t0.5\n2\tapi.d.test\t0.4\n",
    "semicolons": "www.d.test;7\napi.d.test;6\n",
    "comments": "\ufeff# all\nwww.d.test # the first\n\n#\n https://api.d.test/#top\n",
    "all cells quoted": '"1","www.d.test"\n"2","api.d.test"\n',
    "all cells quoted, with tabs": '"1"\t"www.d.test"\n"2"\t"api.d.test"\n',
    "ports": "host,port\nwww.d.test,443\nhttps://api.d.test/,443\n",
    "ports left out": "port;host\n;www.d.test\n443;api.d.test\n",
    "quoted": '"www.d.test"\n"api.d.test"\n',
    "pages": "page\nhttps://www.d.test/\nhttps://api.d.test/x\n",
    "a heading of one word": 'sep=;\n"Host"\n"www.d.test"\napi.d.test\n',
    "names alone": "name\nwww.d.test\napi.d.test\n",
    "with other lines": "www.d.test\n*.d.test\nb c\n-x.test\na\rb\napi.d.test\n",
    "pandas": ",rank,domain\n0,1.0,www.d.test\n1,2.0,api.d.test\n",
    "pandas without its heading": "0,1.0,www.d.test\n1,2.,api.d.test\n",
    "names of an inventory": "FQDN;Port\nwww.d.test;443\napi.d.test;\n",
    "a heading with a blank": "Website URL\nwww.d.test\nhttps://api.d.test/\n",
    "a heading with an underscore": "name,domain_name\nA Ltd,www.d.test\nB & Co,api.d.test\n",
    "Search Console": "Top pages,Clicks,CTR\nhttps://www.d.test/x,10,5%\nhttps://api.d.test/y,2,1%\n",
    "Analytics": "Landing page\tSessions\nhttps://www.d.test/x\t9\nhttps://api.d.test/y\t8\n",
    "Screaming Frog": (
        "Address,Content Type,Status Code\nhttps://www.d.test/x,text/html,200\n"
        "https://api.d.test/y,text/html,200\n"
    ),
    "servers": "Server,Port\nwww.d.test,443\napi.d.test,443.0\n",
    "repeated": "www.d.test\nWWW.D.TEST\napi.d.test\nwww.d.test.\n2,www.d.test\n",
}


def listed(folder: Path, text: str) -> Path:
    path = folder / "list"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", LISTS)
def test_every_form_of_list_is_read_alike_by_probe_scan_and_record(
    form: str, tmp_path: Path
) -> None:
    path = listed(tmp_path, LISTS[form])
    assert list(read_names(path)) == ["www.d.test", "api.d.test"]
    assert list(read_names(path, 1)) == ["www.d.test"]
    assert [(each.host, each.port) for each in read_targets(path)] == [
        ("www.d.test", 443),
        ("api.d.test", 443),
    ]
    if form != "with other lines":  # which pages refuse
        pages = [urlsplit(url).hostname for url in read_pages(str(path))]
        assert pages == ["www.d.test", "api.d.test"]
    opt_out = read_opt_out(listed(tmp_path, "https://D.test/\n"))
    assert all(opt_out.covers(name) for name in read_names(listed(tmp_path, LISTS[form])))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.example:8443/x/y?z", ("a.example", 8443, "/x/y?z")),
        ("HTTPS://A.example?q", ("a.example", None, "/?q")),
        ("stra\u00dfe.test/\u00fc", ("xn--strae-oqa.test", None, "/%C3%BC")),
        ("[2001:DB8::1]:444", ("2001:db8::1", 444, "/")),
        ("2001:db8::1", ("2001:db8::1", None, "/")),
        ("192.0.2.1:80", ("192.0.2.1", 80, "/")),
        ("https://192.0.2.1/24", ("192.0.2.1", None, "/24")),
        ("a.example/24", ("a.example", None, "/24")),
        ("a.example.:8443", ("a.example", 8443, "/")),
        ("a.example/x,1000", ("a.example", None, "/x,1000")),
        ("localhost", ("localhost", None, "/")),
    ],
)
def test_a_host_has_one_spelling(text: str, expected: tuple[str, int | None, str]) -> None:
    host = parse_host(text)
    assert (host.name, host.port, host.path) == expected


ODD = (
    *("a b", "a.example:0", "a.example:99999", "a.example:", "user@a.example", "ftp://a.example"),
    *("a..example", "-a.example", "a" * 64 + ".example", "1.2.3", "999.1.1.1", "5", "::1]", "[::1"),
    *("a.example,b.example", "a.example,", "1,", "https://", "/x", "a%62.example", "x\x1b[31m.d"),
    *("\ufffd.example", "\u0300.example", "a.example..", "192.0.2.0/24", "2001:db8::/32"),
    *("fe80::1%eth0", "[fe80::1%25eth0]:8443", "https://[fe80::1%25eth0]/"),
)


@pytest.mark.parametrize("line", ODD)
def test_what_is_no_host_is_left_out_by_both_with_its_line(line: str, tmp_path: Path) -> None:
    if line == "a.example,":  # the empty cell of a spreadsheet is none
        assert parse_target("a.example") in read_targets(listed(tmp_path, f"b.example\n{line}\n"))
        return
    path = listed(tmp_path, f"b.example\n{line}\n")
    for_probe, for_scan = list[str](), list[str]()
    assert read_targets(path, for_probe.append) == [parse_target("b.example")]
    assert (count_names(path, None, 443, for_scan.append), *read_names(path)) == (1, "b.example")
    assert for_probe == for_scan and for_scan[0] == "1 line is left out:"
    assert re.search(r"list:2: .*correct the line", for_scan[1])
    path = listed(tmp_path, f"\n{line}\n")
    with pytest.raises(ProbeError, match=r"list:2: .*correct the line"):
        read_targets(path)
    with pytest.raises(ScanError, match=r"list:2: .*correct the line"):
        count_names(path, None, 443, for_scan.append)
    with pytest.raises(ProbeError, match="HOST"):
        parse_target(line)


def test_generated_tables_give_their_hosts_whatever_stands_beside(tmp_path: Path) -> None:
    drawn = random.Random(7)
    for _ in range(300):
        separator = drawn.choice(",;\t")
        width, at = drawn.randint(2, 5), drawn.randint(0, 4)
        at = min(at, width - 1)
        heading = [f"c{n}" for n in range(width)]
        heading[at] = drawn.choice(COLUMNS).title().replace(" ", drawn.choice(" _-"))
        names = [f"{drawn.choice('abc')}{n}.\u00fc.example" for n in range(drawn.randint(1, 9))]
        rows = [[drawn.choice(("7", "0.5", "x", "")) for _ in range(width)] for _ in names]
        for row, name in zip(rows, names, strict=True):
            row[at] = f'"{name}"' if drawn.random() < 0.5 else name
        text = "".join(separator.join(row) + "\n" for row in [heading, *rows])
        expected = [name.replace("\u00fc", "xn--tda") for name in names]
        assert list(read_names(listed(tmp_path, text))) == expected, text


@pytest.mark.parametrize(
    "word",
    ["Domains", "hosts", "URLs", "Websites", "address", "server", "all_domains", "Top pages"],
)
def test_a_heading_alone_is_no_host(word: str, tmp_path: Path) -> None:
    path = listed(tmp_path, f"{word}\nwww.d.test\n")
    assert list(read_names(path)) == ["www.d.test"]
    assert [each.host for each in read_targets(path)] == ["www.d.test"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    "heading", [("Seite", "Besuche"), ("Rang", "Domäne"), ("", "x", "No. of y")]
)
def test_a_table_without_a_known_column_is_refused(
    heading: tuple[str, ...], separator: str, tmp_path: Path
) -> None:
    row = separator.join(["https://www.d.test/x", *"12"][: len(heading)])
    path = listed(tmp_path, f"# of May\n{separator.join(heading)}\n{row}\n")
    said = r"list:2: no column of hosts is known in the heading `.*; name it one of domain, .*url, "
    with pytest.raises(ProbeError, match=said):
        read_targets(path)
    with pytest.raises(CorpusError, match=said):
        read_pages(str(path))


@pytest.mark.parametrize("text", ['["a.test","b.test"]', "[", '{"host": "a.test"}', '[{"a": 1}]'])
def test_a_list_in_json_is_named(text: str, tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match=r"list: it is JSON; write one HOST\[:PORT\]\[/PATH\] per"):
        read_targets(listed(tmp_path, f"{text}\n"))


def test_a_line_that_is_too_long_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        ProbeError, match=r"list:2: a line over .* bytes; correct the line, or drop"
    ):
        read_targets(listed(tmp_path, f"a.test\n{WORD_LINE_BYTES_MAX * 'b'}.test\n"))


def test_a_list_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes("b.test\nm\u00fcller.test\n".encode("latin-1"))
    read_targets(path, (notes := list[str]()).append)
    assert "list:2: " in notes[1] and "not UTF-8; save the file as UTF-8" in notes[1]


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        (
            "a.test;8443\nb.test;8444\n",
            "list:1: `8443` beside `a.test` is taken for a rank; write a",
        ),
        ("a.test,1\nb.test,2\nc.test,443\n", "list:3: `443` beside `c.test` is taken for a rank; "),
        (
            "1,a.test,8443\n",
            "list:1: `8443` beside `a.test` is taken for a rank; write a.test:8443",
        ),
        (
            "192.0.2.1;8443\n",
            "list:1: `8443` beside `192.0.2.1` is taken for a rank; write 192.0.2.1:8",
        ),
        (
            "::1;8443\n",
            "list:1: `8443` beside `::1` is taken for a rank; write [::1]:8443 if it is a po",
        ),
        ("a.test,1\nb.test,2\n", ""),
        ("a.test,0.5\nb.test,\n", ""),
        ("https://a.test,1000\nhttps://b.test,1000\n", ""),
        ("1,a.test\n2,b.test\n", ""),
        ("1,a.test,0.5\n2,b.test,99999\n", ""),
    ],
)
def test_a_number_that_may_be_a_port_is_noted(text: str, doubt: str, tmp_path: Path) -> None:
    path = listed(tmp_path, text)
    for_probe, for_scan = list[str](), list[str]()
    read_targets(path, for_probe.append)
    count_names(path, None, 443, for_scan.append)
    assert for_probe == for_scan and len(for_probe) == bool(doubt)
    assert doubt in "".join(for_probe)


def test_a_scan_has_one_port_for_all(tmp_path: Path) -> None:
    path = listed(tmp_path, "origin,rank\nhttps://a.example:443,5\nhttps://b.example:8443,6\n")
    notes = list[str]()
    assert (count_names(path, None, 443, notes.append), *read_names(path)) == (1, "a.example")
    assert notes[0] == "1 line is left out:"
    assert re.search(r"list:3: `b.example` has port 8443.*--port", notes[1])
    assert list(read_names(listed(tmp_path, "a.example:8443\nb.example\n"), port=8443)) == [
        "a.example",
        "b.example",
    ]


def test_a_column_of_ports_counts(tmp_path: Path) -> None:
    text = "name,port\na.example,8443\n[2001:db8::1],53\nhttps://b.example/x,1\nc.example,\n"
    found = read_targets(listed(tmp_path, f"{text}d.example:7,9\ne.example,many\n"))
    assert [(each.host, each.port) for each in found] == [
        ("a.example", 8443),
        ("[2001:db8::1]", 53),
        ("b.example", 443),
        ("c.example", 443),
        ("d.example", 7),
    ]
    notes = list[str]()
    assert (
        count_names(listed(tmp_path, "host,port\na.test,53\nb.test,443\n"), None, 443, print) == 1
    )
    read_targets(listed(tmp_path, "host,port\na.test,53\nb.test,many\n"), notes.append)
    assert "list:3: `b.test,many` is not a HOST" in notes[1]


@pytest.mark.parametrize(
    "heading", ["ip,port", "Server,Port", "saddr,sport", "Address,port number"]
)
@pytest.mark.parametrize(
    ("host", "found"), [("::1", "[::1]"), ("[::1]", "[::1]"), ("192.0.2.1", "192.0.2.1")]
)
def test_an_address_keeps_its_port(heading: str, host: str, found: str, tmp_path: Path) -> None:
    path = listed(tmp_path, f"{heading}\n{host},18443\n")
    assert [(each.host, each.port) for each in read_targets(path)] == [(found, 18443)]
    assert read_pages(str(path)) == [f"https://{found}:18443/"]


def test_a_port_with_more_is_refused(tmp_path: Path) -> None:
    path = listed(tmp_path, "host,port\na.test,8443/tcp\n")
    said = r"list:2: `a.test,8443/tcp` .* \(`8443/tcp` is not a port\); "
    with pytest.raises(ProbeError, match=said):
        read_targets(path)
    with pytest.raises(CorpusError, match=said):
        read_pages(str(path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_list_in_utf_16_is_refused_with_what_helps(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_bytes("a.example\nb.example\n".encode(encoding))
    with pytest.raises(ProbeError, match=r"list: it is in UTF-16; save the file as UTF-8"):
        read_targets(path)


@pytest.mark.parametrize("text", ["", "# none\n", "rank,domain\n", "domain\n", "host\n", "page\n"])
def test_a_list_without_a_host_is_refused_by_both(text: str, tmp_path: Path) -> None:
    path = listed(tmp_path, text)
    with pytest.raises(ProbeError, match=r"list: it names no host; write one HOST"):
        read_targets(path)
    with pytest.raises(ScanError, match=r"list: it names no host; write one HOST"):
        count_names(path, None, 443, print)


def test_line_ends_of_cr_alone_are_named_and_refuse_no_other_line(tmp_path: Path) -> None:
    with pytest.raises(ScanError, match="list:1: a line end of CR alone; save it with LF"):
        count_names(listed(tmp_path, "a.example\rb.example\r"), None, 443, print)
    notes = list[str]()
    path = tmp_path / "list"
    path.write_bytes(b"a\rb\nx.example\ny\rz\n")
    assert count_names(path, None, 443, notes.append) == 1
    assert [note.partition(": ")[2] for note in notes[1:]] == [
        "a line end of CR alone; save it with LF or CR LF"
    ] * 2


def test_machines_may_be_called_as_headings_are(tmp_path: Path) -> None:
    assert list(read_names(listed(tmp_path, "site\nother\nwww.d.test\n"))) == [
        *("site", "other", "www.d.test")
    ]


def test_of_many_lines_left_out_the_count_and_the_first_are_noted(tmp_path: Path) -> None:
    drawn = random.Random(9)
    lines = [f"{n}.example" if drawn.random() < 0.7 else f"*.{n}.example" for n in range(500)]
    bad = [at for at, line in enumerate(lines, start=1) if line.startswith("*")]
    notes = list[str]()
    path = listed(tmp_path, "\n".join(lines))
    assert count_names(path, None, 443, notes.append) == 500 - len(bad)
    assert notes[0] == f"{len(bad)} lines are left out, the first 3 of them:"
    assert [int(note.split(":")[1]) for note in notes[1:]] == bad[:3]
    read_targets(path, (again := list[str]()).append)
    assert again == notes


def test_an_opt_out_covers_what_is_below_it_and_ranges_of_addresses(tmp_path: Path) -> None:
    text = "example.com # asked us\n*.B.example\n192.0.2.1/24\n2001:db8::1\nstra\u00dfe.test\n"
    opt_out = read_opt_out(listed(tmp_path, text + "https://198.51.100.1/abuse\n"))
    assert opt_out.ranges == ("192.0.2.0/24", "2001:db8::1/128", "198.51.100.1/32")
    covered = ("example.com", "www.example.com", "b.example", "x.b.example", "xn--strae-oqa.test")
    assert all(opt_out.covers(name) for name in covered)
    assert not any(opt_out.covers(name) for name in ("notexample.com", "com", "strasse.test"))
    with pytest.raises(ScanError, match=r"list:2: `192\.0\.2\.0-192\.0\.2\.9` is no name"):
        read_opt_out(listed(tmp_path, "a.example\n192.0.2.0-192.0.2.9\n"))
    for number in ("AS64500", "as 64500"):
        with pytest.raises(ScanError, match=r"list:2: `\w+ ?64500` .* write its ranges"):
            read_opt_out(listed(tmp_path, f"a.example\n{number}\n"))
    for zone in ("fe80::1%eth0", "fe80::%eth0/64", "[fe80::1%25eth0]"):
        with pytest.raises(ScanError, match=r"list:1: .* \(an address with a zone, which only one"):
            read_opt_out(listed(tmp_path, f"{zone}\n"))
    bracketed = read_opt_out(listed(tmp_path, "[2001:db8::]/32\n[2001:db8::1]\n"))
    assert bracketed.ranges == ("2001:db8::/32", "2001:db8::1/128")
    mapped = read_opt_out(listed(tmp_path, "::ffff:192.0.2.1\n::ffff:192.0.2.0/120\n::/0\n"))
    assert mapped.ranges == ("192.0.2.1/32", "192.0.2.0/24", "::/0")
