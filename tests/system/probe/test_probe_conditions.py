"""Pairs of conditions from one run in a lab: what is put there is told, and nothing else."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labs import cannot_build_labs
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig

pytestmark = pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-")

RTT_MS = 20.0
EXTRA_MS = 10.0
"""Of a round trip, over IPv6 alone."""
HOSTS, COUNT = 8, 3
ROUND_TRIPS = {"tls1.3": 2, "quic": 1}
TRIES = 4
"""An interval of 95 % misses at times, and a machine's load may come with one family alone."""
READ_MS = 0.3
"""What reading and cryptography differ by in the median."""


def eyelevel(*arguments: str) -> str:
    command = [sys.executable, "-m", "eyelevel", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def families_in_one_run(folder: Path, *path: str) -> dict[str, Any]:
    """v4 - v6 by protocol, of eight hosts that stand behind one path."""
    rows = folder / "rows.jsonl"
    rows.unlink(missing_ok=True)
    lab = ("lab", "-4", "-6", "--hosts", str(HOSTS), "--count", str(COUNT), "--interval", "1ms")
    protocols = ("--protocols", ",".join(ROUND_TRIPS))
    eyelevel("probe", *lab, *protocols, "--rtt", f"{RTT_MS}ms", *path, "--out", str(rows))
    report = json.loads(eyelevel("probe", "report", str(rows), "--json"))
    found = [row for row in report["conditions"] if row["a"] == "v4"]
    assert {row["protocol"]: row["n"] for row in found} == dict.fromkeys(ROUND_TRIPS, HOSTS * COUNT)
    return {row["protocol"]: row for row in found}


def server6() -> str:
    nothing = dict.fromkeys(("down", "up"), "none")
    with Lab(LabConfig(nothing, 1)) as lab:
        assert lab.ready.server_address6 is not None
        return lab.ready.server_address6


def test_an_extra_delay_of_one_family_is_told_within_its_interval(tmp_path: Path) -> None:
    extra = f"address_delay {server6()}={EXTRA_MS}ms"
    for _ in range(TRIES):
        found = families_in_one_run(tmp_path, "--down", extra)
        medians = {protocol: row["median_host_ms"] for protocol, row in found.items()}
        if all(
            medians[protocol]["low"] - READ_MS
            <= -EXTRA_MS * round_trips
            <= medians[protocol]["high"] + READ_MS
            for protocol, round_trips in ROUND_TRIPS.items()
        ):
            break
    else:
        pytest.fail(f"not told in {TRIES} runs: {medians}")
    assert {row["verdict"] for row in found.values()} == {"a faster"}


def test_nothing_is_told_of_families_that_share_one_path(tmp_path: Path) -> None:
    for _ in range(TRIES):
        found = families_in_one_run(tmp_path)
        if {row["verdict"] for row in found.values()} == {"no clear difference"}:
            break
    else:
        pytest.fail(f"a difference in each of {TRIES} runs: {found}")
    assert all(abs(row["median_host_ms"]["value"]) < EXTRA_MS / 4 for row in found.values())


def test_one_run_has_full_handshakes_and_resumed_ones_over_both_families(tmp_path: Path) -> None:
    """TLS 1.2 saves a round trip by resuming, TLS 1.3 and QUIC save none."""
    saved = {"tls1.2": 1, "tls1.3": 0, "quic": 0}
    rows = tmp_path / "rows.jsonl"
    lab = ("lab", "-4", "-6", "--network", "dsl", "--count", "2", "--interval", "1ms")
    said = eyelevel("probe", *lab, "--protocols", ",".join(saved), "--resume-session", "--out",
                    str(rows))  # fmt: skip
    said, _, where = said.partition("rows: ")
    said, _, summary = said.partition("by host")
    assert summary.count("resumed") == len(saved)
    assert where == f"{rows}\n"
    assert said.count("handshake") == 4 and said.count("resumed") == said.count("full") == 24
    read = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    assert [row["first_of_pair"] for row in read] == [True, False] * 12
    for first, second in zip(read[::2], read[1::2], strict=True):
        same = ("protocol", "attempt", "order", "address", "dns_us")
        assert [first[name] for name in same] == [second[name] for name in same]
        assert (first["resumed"], first["resumption_offered"]) == (False, False)
        assert second["resumed"] and second["resumption_offered"]
    report = json.loads(eyelevel("probe", "report", str(rows), "--json"))
    of_pairs = [row for row in report["conditions"] if row["b"] == "resumed"]
    assert {row["protocol"]: row["n"] for row in of_pairs} == dict.fromkeys(saved, 4)
    rtt_ms = read[0]["path_rtt_ms"]
    for row in of_pairs:
        least_ms = saved[row["protocol"]] * rtt_ms
        assert row["p50_ms"]["value"] > least_ms - 0.5 * rtt_ms
        assert saved[row["protocol"]] or row["p50_ms"]["value"] < 0.5 * rtt_ms
    assert {row["what"] for row in report["conditions"]} == {"connection_ms"}
    assert {row["protocol"] for row in report["conditions"] if row["a"] == "v4"} == {*saved}
    csv = eyelevel("probe", *lab, "--protocols", "quic", "--resume-session", "--thesis-csv")
    assert len(csv.splitlines()) == 1 + 4, "a line a pair"
