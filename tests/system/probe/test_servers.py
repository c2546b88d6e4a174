"""Libraries of servers side by side, in real labs."""

import dataclasses
import json
from pathlib import Path

import pytest
from labs import cannot_build_labs
from probe_request import config
from typer.testing import CliRunner

from eyelevel.base.errors import ProbeError
from eyelevel.cli.probe.commands import app
from eyelevel.cli.probe.servers import DEFAULT
from eyelevel.load.servers.known import parse_servers
from eyelevel.load.servers.visits import (
    ADDRESSES,
    Conditions,
    Visit,
    in_order,
    rows_of,
    write_generated_site,
)
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.probes.servers import side_by_side

BLOCKS = 9

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-"),
]


def test_a_known_delay_is_told_and_far_beyond_what_two_of_the_same_differ() -> None:
    served, _ = parse_servers("ours,ours,ours+20ms")
    served = [dataclasses.replace(each, protocols=("tls1.3",)) for each in served]
    network = compose(NetworkWords(rtt="20ms"), read_stages)
    with write_generated_site() as site:
        rows = [
            row
            for visit in in_order(served, BLOCKS, 1)
            for row in rows_of(visit, network, site, config("", site, count=1))
        ]
    assert len(rows) == 2 * 3 * BLOCKS
    found = {
        (each["server"], each["handshake"]): each
        for each in side_by_side(rows, [each.name for each in served])
    }
    for handshake in ("full", "resumed"):
        same, delayed = found["ours (2)", handshake], found["ours+20ms", handshake]
        assert delayed["verdict"] == "slower"
        # Two round trips of 20 ms more: TCP's and TLS's.
        assert abs(same["difference_ms"]["value"]) < delayed["difference_ms"]["value"] / 4
        assert delayed["round_trips"] == same["round_trips"] == 2
        assert delayed["why"] == same["why"] == []
        assert delayed["resumed"] == (BLOCKS if handshake == "resumed" else 0)


def test_every_server_is_reached_over_ipv6() -> None:
    served, _ = parse_servers(DEFAULT)
    network = compose(NetworkWords(rtt="20ms"), read_stages)
    with write_generated_site(ADDRESSES["v6"]) as site:
        rows = [
            row
            for visit in in_order(served, 1, 1)
            for row in rows_of(visit, network, site, config("", site, count=1))
        ]
    assert {row["probed_server"] for row in rows} == {each.name for each in served}
    assert {row["address"] for row in rows} == {ADDRESSES["v6"]}
    assert all(row["failure"] is None for row in rows)


def test_the_command_says_what_each_costs_and_why() -> None:
    _, missing = parse_servers("aioquic")
    if missing:
        pytest.skip("aioquic is not installed: pip install -r requirements-dev.lock")
    words = ["aioquic,aioquic+retry", "--rtt", "20ms", "--blocks", "2", "--json"]
    done = CliRunner().invoke(app, ["servers", *words])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout[done.stdout.index("{") :])
    assert (said["reference"], said["blocks"], said["missing"]) == ("aioquic", 2, {})
    plain, retried = said["servers"][:2]
    assert (plain["round_trips"], retried["round_trips"]) == (1, 2)
    assert retried["why"][0] == "Retry, to validate the address: 1 round trip"
    assert retried["difference_ms"]["value"] > 0
    assert all(each["connected"] == 2 for each in said["servers"])


def test_a_lost_packet_costs_what_repairs_it() -> None:
    served, _ = parse_servers("ours")
    network = compose(NetworkWords(rtt="20ms"), read_stages)
    took_ms = {}
    with write_generated_site() as site:
        for protocol in ("tls1.3", "quic"):
            for conditions in (Conditions(lost_up=()), Conditions(lost_down=(1,))):
                visit = Visit(0, served[0], protocol)
                rows = rows_of(visit, network, site, config("", site, count=1), conditions)
                full = next(row for row in rows if not row["resumption_offered"])
                assert full["failure"] is None
                took_ms[protocol, conditions.lost_down] = full["connection_us"] / 1000
    # A SYN-ACK is sent again after the kernel's first timeout of a second (RFC 6298, section 2),
    # as is an Initial after twice the assumed round trip of 333 ms at the least (RFC 9002, 6.2.2).
    for protocol, least_ms in (("tls1.3", 1000), ("quic", 300)):
        extra_ms = took_ms[protocol, (1,)] - took_ms[protocol, ()]
        assert extra_ms >= least_ms, took_ms


def test_a_run_goes_on_with_the_visits_that_are_left(tmp_path: Path) -> None:
    out = tmp_path / "rows.jsonl"
    words = ["servers", "ours", "--rtt", "10ms", "--json", "--out", str(out)]
    done = CliRunner().invoke(app, [*words, "--blocks", "2"])
    assert done.exit_code == 0, done.output
    lines = out.read_text(encoding="utf-8").splitlines(keepends=True)
    # A line that says what it is, and two rows of each of three protocols a block.
    assert len(lines) == 1 + 2 * 3 * 2
    out.write_text("".join(lines[:6]) + lines[6][:20], encoding="utf-8")
    again = CliRunner().invoke(app, [*words, "--blocks", "2", "--resume"])
    assert again.exit_code == 0, again.output
    kept = out.read_text(encoding="utf-8").splitlines(keepends=True)
    assert kept[:6] == lines[:6]
    # Two visits were whole; the third is made again with the three that were not begun.
    assert len(kept) == 6 + 2 * 4
    told = json.loads(again.stdout[again.stdout.index("{") :])["servers"]
    assert {(each["attempts"], each["connected"]) for each in told} == {(2, 2)}
    other = CliRunner().invoke(app, [*words[:2], "--rtt", "11ms", *words[4:], "--resume"])
    assert isinstance(other.exception, ProbeError) and "another network" in str(other.exception)
