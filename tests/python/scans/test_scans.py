"""Lists in, summaries out."""

from pathlib import Path

import pytest

from eyelevel.errors import ScanError
from eyelevel.scans.names import NAME, parse_names, parse_opt_out, read_names
from eyelevel.scans.summary import Summary
from eyelevel.stats.binomial import wilson_95


def test_every_form_of_list_gives_its_names(tmp_path: Path) -> None:
    lines = ["1,Example.com", "# a comment", "", "2,b.example.", "plain.example", "bücher.example"]
    expected = ["example.com", "b.example", "plain.example", "xn--bcher-kva.example"]
    assert list(parse_names(lines, "list")) == expected
    path = tmp_path / "list.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    assert list(read_names(path, 2)) == expected[:2]
    with pytest.raises(ScanError, match="list, line 2"):
        list(parse_names(["a.example", "no name"], "list"))
    with pytest.raises(ScanError, match=r"absent\.csv"):
        list(read_names(tmp_path / "absent.csv"))


def test_an_opt_out_covers_what_is_below_it_and_ranges_of_addresses() -> None:
    opt_out = parse_opt_out(
        ["example.com # asked us", "*.b.example", "192.0.2.1/24", "2001:db8::1"]
    )
    assert opt_out.ranges == ("192.0.2.0/24", "2001:db8::1/128")
    for name in ("example.com", "www.example.com", "b.example", "x.b.example"):
        assert opt_out.covers(name)
    for name in ("notexample.com", "com", "a.example"):
        assert not opt_out.covers(name)


def test_shares_leave_out_what_is_unknown_and_have_wilsons_intervals() -> None:
    summary = Summary()
    reached = {"address": "192.0.2.1", "tls_version": "TLSv1_3", "tls13": True, "quic": False}
    for _ in range(10):
        summary.take(reached)
    summary.take(reached | {"tls13": False})
    summary.take(reached | {"tls13": None})
    summary.take({"failure": "dns-no-such-name"})
    summary.take({"skipped": "opt-out"})
    found = summary.as_json()
    assert (found["names"], found["resolved"], found["reached"]) == (14, 12, 12)
    assert (found["skipped"], found["failures"]) == ({"opt-out": 1}, {"dns-no-such-name": 1})
    tls13 = found["shares"][0]
    assert (tls13["feature"], tls13["count"], tls13["of"]) == ("tls13", 10, 11)
    together = next(each for each in found["shares"] if each["feature"] == "tls13_and_quic")
    assert (together["count"], together["of"]) == (0, 11), "one of the two is not enough"
    # Wilson (1927); 81 of 263 is the example of Newcombe (1998), Table I: .2553 to .3662.
    low, high = wilson_95(81, 263) or (0, 0)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson_95(0, 0) is None
    assert wilson_95(0, 10)[0] == 0.0


def test_what_can_be_a_name_is_told_in_linear_time():
    """22 letters and an exclamation mark once took a second, and each further letter doubled it."""
    assert NAME.fullmatch("a" * 200 + "!") is None and NAME.fullmatch("a." * 100 + "!") is None
    assert NAME.fullmatch("www.example.com.") and NAME.fullmatch("_dmarc.example.com")
    assert NAME.fullmatch("a" * 63 + ".example") and not NAME.fullmatch("a" * 64 + ".example")
    assert not NAME.fullmatch("a..b") and not NAME.fullmatch("-a.example")
