"""Lists in, summaries out."""

from pathlib import Path

import pytest

from eyelevel.analysis.stats.binomial import wilson_95
from eyelevel.base.errors import ScanError
from eyelevel.probes.scans import Summary, read_names


def test_a_list_that_is_absent_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScanError, match=r"absent\.csv"):
        list(read_names(tmp_path / "absent.csv"))


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
