"""`replicate` measures all handshakes once, and takes the scatter of earlier runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from synthetic_run import write_run

from eyelevel.cli.run import replicate
from eyelevel.load.servers.known import OURS, PROGRAMS, Served
from eyelevel.load.servers.visits import ADDRESSES
from eyelevel.replication.claims import read_claims
from eyelevel.replication.expected import measure_scatter
from eyelevel.replication.lab_handshakes import FILE, LabHandshakes


@pytest.fixture
def probe_calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Return the servers and addresses of each measurement, which needs no lab here."""
    found: list[tuple[str, str]] = []

    def parse(names: str) -> tuple[list[Served], dict[str, str]]:
        assert names.split(",") == [OURS, *PROGRAMS]
        return [Served("ours", ("quic",)), Served("aioquic", ("quic",))], {"caddy": "get it"}

    def measure(handshakes: Any, words: Any, config: Any, blocks: int, kept: Any) -> None:
        found.append((handshakes.servers, handshakes.address))
        kept.begin({"network": {"rtt_ms_min": 100.0}})
        rows = [
            {"event": "attempt", "failure": None, "resumed": False, "probed_server": name,
             "address": handshakes.address, "protocol": "quic", "block": 0,
             "connection_us": 100_000}
            for name in handshakes.servers.split(",")
        ]  # fmt: skip
        kept.take(rows)

    monkeypatch.setattr(replicate, "parse_servers", parse)
    monkeypatch.setattr(replicate, "put_side_by_side", measure)
    return found


def test_all_installed_servers_are_measured_once_over_both_families(
    probe_calls: list[tuple[str, str]], tmp_path: Path
) -> None:
    claims, file = read_claims("jaeger-2018"), tmp_path / FILE
    replicate._probe_absent(claims, file)
    assert probe_calls == [("ours,aioquic", each) for each in ADDRESSES.values()]
    replicate._probe_absent(claims, file)
    assert len(probe_calls) == 2
    rows = file.read_text(encoding="utf-8").splitlines()
    of_one_family = [row for row in rows if ADDRESSES["v6"] not in row]
    file.write_text("\n".join(of_one_family), encoding="utf-8")
    replicate._probe_absent(claims, file)
    assert len(probe_calls) == 4
    names = ["ours", "ours over IPv6", "aioquic", "aioquic over IPv6"]
    assert LabHandshakes(file).servers == names


def test_texts_without_handshakes_measure_none(
    probe_calls: list[tuple[str, str]], tmp_path: Path
) -> None:
    replicate._probe_absent(read_claims("das-2014"), tmp_path / FILE)
    assert probe_calls == []


def test_scatter_comes_from_the_runs_of_the_text_that_are_there(tmp_path: Path) -> None:
    claims = read_claims("wolsing-2019")
    sites = ["startup", "dashboard", "plain", "agency", "api", "blog"]
    text = (
        f'sites = {json.dumps(sites)}\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\n'
        'reference = "tcp"\nblocks = 1\n'
    )
    write_run(tmp_path / "wolsing-2019-dsl", text=text)
    write_run(tmp_path / "wolsing-2019-other", text=text)  # no run of this text
    loads = list(replicate._read_loads(claims, tmp_path))
    assert [plan.networks[0].name for plan, _ in loads] == ["dsl"]
    assert 0 < measure_scatter(loads).deviation("page_load_time_ms", 1) < 0.1
