"""Who served a row: by its names, by what answers say, by addresses, or unknown."""

from pathlib import Path

import polars as pl
import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.probes.cdn import SHIPPED, attribute_cdns, group_of, read_marks
from eyelevel.probes.reading import SCHEMA
from eyelevel.probes.selection import only_cdns


def made(*rows: dict[str, object]) -> pl.DataFrame:
    base = dict.fromkeys(SCHEMA) | {"file": "f", "host": "h.example", "protocol": "quic"}
    return pl.DataFrame([base | row for row in rows], schema=SCHEMA)


def told(*rows: dict[str, object]) -> list[tuple[str, str]]:
    (table,) = attribute_cdns([made(*rows)])
    return list(table.select("cdn", "cdn_by").iter_rows())


@pytest.mark.parametrize(
    ("cnames", "cdn"),
    [
        (["d111.cloudfront.net"], "Amazon CloudFront"),
        (["www.h.example.EDGEKEY.net."], "Akamai"),
        (["fastly.net"], "Fastly"),
        # The one that serves is the last of a chain.
        (["h.azureedge.net", "wpc.0001.edgecastcdn.net"], "Edgecast"),
        (["wpc.0001.edgecastcdn.net", "h.azureedge.net"], "Azure CDN"),
        (["h.azureedge.net", "unlisted.example"], "Azure CDN"),
        # A name that only ends in the same letters, or has them elsewhere, is another's.
        (["notfastly.net"], None),
        (["fastly.net.example"], None),
        (["cloudflare.net"], None),
        ([], None),
        (None, None),
    ],
)
def test_a_chain_of_names_tells_by_its_suffixes(cnames: list[str] | None, cdn: str | None) -> None:
    expected = (cdn, "cname") if cdn else ("unknown", "unknown")
    assert told({"cnames": cnames, "address": "192.0.2.1"}) == [expected]


def test_a_host_may_be_a_cdns_name_itself() -> None:
    assert told({"host": "d1.cloudfront.net"}) == [("Amazon CloudFront", "cname")]


def test_the_longer_suffix_wins(tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("# mine\ncname\tours.fastly.net.\tOurs\nserver\tOUR-*\tOurs\tsomewhere\n")
    marks = read_marks(own)
    assert marks.of_names(["a.ours.fastly.net"]) == "Ours"
    assert marks.of_names(["a.fastly.net"]) == "Fastly"
    assert marks.of_server("our-edge 1") == "Ours"


def test_what_answers_say_tells_of_all_protocols_to_that_address_and_of_no_other() -> None:
    said = told(
        {"protocol": "tls1.3", "address": "192.0.2.1", "server": "Cloudflare"},
        {"protocol": "quic", "address": "192.0.2.1", "failure": "quic-timeout"},
        {"protocol": "quic", "address": "198.51.100.1"},
        {"host": "other.example", "address": "192.0.2.1"},
    )
    assert said == [("Cloudflare", "server")] * 2 + [("unknown", "unknown")] * 2


def test_names_go_before_what_answers_say() -> None:
    row = {"cnames": ["x.fastly.net"], "address": "192.0.2.1", "server": "cloudflare"}
    assert told(row) == [("Fastly", "cname")]


def test_answers_that_disagree_tell_nothing() -> None:
    said = told(
        {"address": "192.0.2.1", "server": "cloudflare"},
        {"address": "192.0.2.1", "server": "BunnyCDN-DE1-863"},
    )
    assert said == [("unknown", "unknown")] * 2


def test_a_server_of_another_name_is_no_cdns() -> None:
    assert told({"address": "192.0.2.1", "server": "nginx"}) == [("unknown", "unknown")]


def test_the_untold_are_grouped_by_address_if_they_are_several() -> None:
    said = told(
        {"host": "a", "address": "203.0.113.1"},
        {"host": "b", "address": "203.0.113.255"},
        {"host": "c", "address": "203.0.114.1"},
        {"host": "d", "address": "2001:db8:1::1"},
        {"host": "e", "address": "2001:db8:1:ffff::1"},
        {"host": "f", "address": "2001:db8:2::1"},
        {"host": "c", "address": "203.0.114.2"},
        # Told otherwise: it makes no group of the one host beside it.
        {"host": "g", "address": "203.0.114.3", "cnames": ["g.fastly.net"]},
        {"host": "h", "address": None},
    )
    v4, v6 = ("addresses of 203.0.113.0/24", "address"), ("addresses of 2001:db8:1::/48", "address")
    unknown = ("unknown", "unknown")
    assert said == [v4, v4, unknown, v6, v6, unknown, unknown, ("Fastly", "cname"), unknown]


def test_groups_and_answers_are_of_all_files_together_and_rows_keep_their_order() -> None:
    first = made({"host": "b", "address": "203.0.113.1"}, {"host": "a", "address": "192.0.2.9"})
    second = made({"host": "c", "address": "203.0.113.2"})
    tables = attribute_cdns([first, second])
    assert [table["host"].to_list() for table in tables] == [["b", "a"], ["c"]]
    assert tables[0]["cdn"][0] == tables[1]["cdn"][0] == "addresses of 203.0.113.0/24"
    assert attribute_cdns(tables) == tables


def test_what_is_no_address_is_in_no_group() -> None:
    assert [group_of(text) for text in (None, "", "x", "1.2.3")] == [None] * 4


def test_rows_of_a_cdn_are_named_without_case_and_groups_by_their_range() -> None:
    tables = attribute_cdns(
        [
            made(
                {"host": "a", "address": "203.0.113.1"},
                {"host": "b", "address": "203.0.113.2"},
                {"host": "c", "cnames": ["c.fastly.net"]},
            )
        ]
    )
    assert only_cdns(tables, ["fastly"])[0]["host"].to_list() == ["c"]
    assert only_cdns(tables, ["203.0.113.0/24", "FASTLY "])[0]["host"].to_list() == ["a", "b", "c"]
    with pytest.raises(
        ProbeError, match=r"^--cdn akamai: no row is of this CDN; name one of .*Fastly"
    ):
        only_cdns(tables, ["akamai"])


@pytest.mark.parametrize(
    "line", ["fastly.net", "cname\tfastly.net", "name\ta\tb", "cname\t.\tX", "server\t*\tX"]
)
def test_a_line_that_is_no_mark_is_named(tmp_path: Path, line: str) -> None:
    own = tmp_path / "own.tsv"
    own.write_text(f"# first\n\n{line}\n")
    with pytest.raises(
        ProbeError, match=r"own\.tsv, line 3: .* does not identify a CDN: write"
    ) as caught:
        read_marks(own)
    assert len(str(caught.value).splitlines()) == 1


def test_each_shipped_mark_says_where_the_cdn_says_so() -> None:
    lines = [line for line in SHIPPED.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 10
    for line in lines:
        kind, value, cdn, source = line.split("\t")
        assert kind in ("cname", "server") and value and cdn and source.startswith("https://")
    assert len({line.split("\t")[1] for line in lines}) == len(lines)
