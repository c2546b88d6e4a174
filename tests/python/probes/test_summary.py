"""Times, shares and differences by CDN: made rows whose truth is known."""

import polars as pl

from eyelevel.probes.analysis import analyse
from eyelevel.probes.cdn import describe_evidence
from eyelevel.probes.reading import SCHEMA
from eyelevel.report.pages.probe import probe_page

HANDSHAKES = ("resumed", "resumption_offered", "early_data_offered", "early_data_accepted")


def made(*rows: dict[str, object], file: str = "f") -> pl.DataFrame:
    base = dict.fromkeys(SCHEMA) | dict.fromkeys(HANDSHAKES, False)
    base |= {"file": file, "at_s": 100.0, "family": "v4", "vantage": "here", "split": False}
    return pl.DataFrame([base | row for row in rows], schema=SCHEMA)


def host_of(cdn: str, number: int, tls_ms: float, quic_ms: float | None) -> list[dict[str, object]]:
    """A host whose rows its CNAME tells; QUIC fails where it has no time."""
    row = {"host": f"{cdn}-{number}", "cnames": [f"{number}.{cdn}.net"], "address": "192.0.2.1"}
    failure = None if quic_ms else "quic-timeout"
    return [
        row | {"protocol": "tls1.3", "connection_ms": tls_ms},
        row | {"protocol": "quic", "connection_ms": quic_ms, "failure": failure},
    ]


def two_cdns() -> list[dict[str, object]]:
    """QUIC takes 30 ms less at one, 10 ms more at the other, which has one host without it."""
    near = [row for n in range(8) for row in host_of("fastly", n, 80.0 + n, 50.0 + n)]
    far = [row for n in range(7) for row in host_of("cloudfront", n, 100.0 + n, 110.0 + n)]
    return near + far + host_of("cloudfront", 7, 107.0, None)


def test_each_cdn_has_its_own_difference() -> None:
    found = analyse([made(*two_cdns())]).by_cdn
    assert [row["cdn"] for row in found.cdns] == ["Amazon CloudFront", "Fastly"]
    assert [(row["hosts"], row["samples"]) for row in found.cdns] == [(8, 16), (8, 16)]
    cloudfront, fastly = found.pairs
    assert (fastly["a"], fastly["b"], fastly["n"], fastly["hosts"]) == ("tls1.3", "quic", 8, 8)
    assert (fastly["median_host_ms"]["value"], fastly["verdict"]) == (30, "b faster")
    assert fastly["median_host_ms"]["low"] == fastly["median_host_ms"]["high"] == 30
    assert (cloudfront["median_host_ms"]["value"], cloudfront["n"]) == (-10, 7)
    assert cloudfront["verdict"] == "a faster"
    # p of the sign test of 8 and 7 hosts alike, after Holm over both.
    assert (fastly["p_holm"], cloudfront["p_holm"]) == (2 * 2**-7, 2**-6)


def test_times_are_of_one_cdn_and_of_full_handshakes() -> None:
    resumed = host_of("fastly", 20, 1.0, 1.0)
    for row in resumed:
        row["resumed"] = True
    found = analyse([made(*two_cdns(), *resumed)]).by_cdn
    times = {(row["cdn"], row["protocol"]): row for row in found.times}
    assert len(times) == 4
    tls = times["Fastly", "tls1.3"]
    assert (tls["n"], tls["hosts"], tls["family"], tls["vantage"]) == (8, 8, "v4", "here")
    assert tls["p50_ms"]["value"] == 83.5
    assert 80 <= tls["p50_ms"]["low"] < 83.5 < tls["p50_ms"]["high"] <= 87
    assert times["Amazon CloudFront", "quic"]["n"] == 7


def test_the_share_that_connects_is_of_hosts_tried() -> None:
    rows = two_cdns()
    # A second attempt that fails takes nothing from a host that connected.
    again = rows[1] | {"failure": "quic-timeout", "connection_ms": None}
    found = analyse([made(*rows, again)]).by_cdn
    shares = {(row["cdn"], row["protocol"]): row for row in found.connected}
    quic = shares["Amazon CloudFront", "quic"]
    assert (quic["connected"], quic["hosts"], quic["share"]["value"]) == (7, 8, 7 / 8)
    # Wilson's bounds of 7 of 8.
    assert round(quic["share"]["low"], 3) == 0.529 and round(quic["share"]["high"], 3) == 0.978
    assert shares["Fastly", "quic"]["connected"] == shares["Fastly", "quic"]["hosts"] == 8


def test_a_file_without_failures_tells_no_share() -> None:
    thesis = [row | {"split": None} for row in two_cdns() if not row.get("failure")]
    found = analyse([made(*thesis)]).by_cdn
    assert {row["share"]["value"] for row in found.connected} == {None}
    assert found.connected[0]["share"]["undetermined_because"] == "these files hold no failures"


def test_a_host_is_compared_with_itself_within_one_cdn() -> None:
    """Its TLS is served by one, its QUIC by another: neither has a difference of the two."""
    row = {"host": "h", "address": "192.0.2.1"}
    found = analyse(
        [
            made(
                row | {"protocol": "tls1.3", "connection_ms": 80.0, "cnames": ["h.fastly.net"]},
                row | {"protocol": "quic", "connection_ms": 20.0, "cnames": ["h.b-cdn.net"]},
            )
        ]
    )
    assert len(found.pairs) == 1 and found.by_cdn.pairs == []
    assert [(row["cdn"], row["hosts"]) for row in found.by_cdn.cdns] == [
        ("Fastly", 1),
        ("bunny.net", 1),
    ]


def test_unknown_is_counted_and_last_and_told_in_words() -> None:
    untold = {"host": "z", "protocol": "tls1.3", "failure": "dns-no-such-name"}
    analysis = analyse([made(*two_cdns(), untold, untold | {"protocol": "quic"})])
    last = analysis.by_cdn.cdns[-1]
    assert (last["cdn"], last["hosts"], last["samples"]) == ("unknown", 1, 2)
    page = probe_page(analysis)
    assert "Of 2 samples of 1 host nothing tells who served them: unknown." in page
    assert "7 of 8, 87.5%<small> [52.9%, 97.8%]</small>" in page
    row = {"hosts_by_cname": 12, "hosts_by_server": 3, "hosts_by_address": 0}
    assert describe_evidence(row) == "CNAME 12, Server 3"
    assert describe_evidence(row | {"hosts_by_server": 0}) == "CNAME"


def test_a_file_without_rows_is_no_fault() -> None:
    empty = pl.DataFrame(schema=SCHEMA)
    assert analyse([empty]).by_cdn.cdns == []
    assert analyse([empty, made(*two_cdns())]).by_cdn.cdns[0]["hosts"] == 8
