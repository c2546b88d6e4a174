"""The prober against servers that others wrote, in a lab."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from labs import cannot_build_labs
from probe_request import config

from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.client import Lab
from eyelevel.lab.prober import probe_events
from eyelevel.load.servers.known import Served, parse_servers
from eyelevel.load.servers.visits import running, write_generated_site
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.network import lab_path

NETWORK = compose(NetworkWords(rtt="10ms"), read_stages).network

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-"),
]

Place = tuple[Lab, JsonMapping]


def named(name: str, *options: str) -> Served:
    served, missing = parse_servers(name)
    if missing:
        pytest.skip(f"{name} is not installed: {missing[name]}")
    return dataclasses.replace(served[0], command=(*(served[0].command or ()), *options))


@contextmanager
def lab_of(served: Served, protocol: str) -> Iterator[Place]:
    with (
        write_generated_site() as site,
        running(served, protocol, site, lab_path(NETWORK), NETWORK, 1) as place,
    ):
        yield place


def probed(place: Place, protocols: list[str], **changes: Any) -> dict[str, Any]:
    lab, known = place
    asked = config("", Path(), count=1) | dict(known) | {"protocols": protocols} | changes
    return {row["protocol"]: row for row in probe_events("probe", asked, lab.command_prefix)}


def test_openssl_s_server() -> None:
    with lab_of(named("s_server"), "tls1.3") as place:
        rows = probed(place, ["tcp", "tls1.2", "tls1.3"])
        again = probed(place, ["tls1.2", "tls1.3"], resume_session=True)
    with lab_of(named("s_server", "-groups", "P-384"), "tls1.3") as place:
        asked_again = probed(place, ["tls1.3"])
    with lab_of(named("s_server", "-no_tls1_3"), "tls1.2") as place:
        refused = probed(place, ["tls1.3"])
    with lab_of(named("s_server", "-num_tickets", "0"), "tls1.3") as (lab, known):
        asked = config("", Path(), count=1, resume_session=True, timeout_ms=1000)
        asked |= dict(known) | {"protocols": ["tls1.3"]}
        full, without = probe_events("probe", asked, lab.command_prefix)
    assert [row["failure"] for row in rows.values()] == [None] * 3, rows
    assert (rows["tls1.2"]["version"], rows["tls1.3"]["version"]) == ("TLSv1_2", "TLSv1_3")
    assert {rows[name]["http_status"] for name in ("tls1.2", "tls1.3")} == {200}
    assert all(row["resumed"] for row in again.values()), again
    assert asked_again["tls1.3"]["hello_retry_request"]
    assert refused["tls1.3"]["failure"] == "tls-version"
    assert (full["failure"], full["http_status"], full["first_of_pair"]) == (None, 200, True)
    assert without["failure"] == "no-session" and without["at_unix_us"] > 0
    assert without["failure_detail"].endswith("gave no ticket"), without


def test_nginx() -> None:
    with lab_of(named("nginx"), "tls1.3") as place:
        rows = probed(place, ["tls1.2", "tls1.3"])
        early = probed(place, ["tls1.3"], resume_session=True, early_data=True)
    for row in rows.values():
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, "h2"), row
        assert row["alt_svc"] == 'h3=":443"; ma=60'
    assert early["tls1.3"]["resumed"], early
    assert early["tls1.3"]["http_status"] in (204, 425)


def test_caddy() -> None:
    with lab_of(named("caddy"), "quic") as place:
        rows = probed(place, ["tcp", "tls1.2", "tls1.3", "quic"])
        again = probed(place, ["tls1.3", "quic"], resume_session=True)
    for protocol, version in (("tls1.2", "h2"), ("tls1.3", "h2"), ("quic", "h3")):
        row = rows[protocol]
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, version)
    assert all("h3=" in rows[protocol]["alt_svc"] for protocol in ("tls1.2", "tls1.3"))
    assert all(row["resumed"] for row in again.values()), again


def test_aioquic() -> None:
    both = ["quic", "quic-v2"]
    with lab_of(named("aioquic"), "quic") as place:
        rows = probed(place, both)
        early = probed(place, both, resume_session=True, early_data=True)
    with lab_of(named("aioquic+retry"), "quic") as place:
        retried = probed(place, both)
    for row in (*rows.values(), *early.values(), *retried.values()):
        assert (row["failure"], row["http_status"], row["http_version"]) == (None, 204, "h3"), row
        assert row["key_exchange_kind"] == "classical"
    assert {protocol: row["version"] for protocol, row in rows.items()} == {
        "quic": "1",
        "quic-v2": "2",
    }
    assert all(row["resumed"] and row["early_data_accepted"] for row in early.values()), early
    assert [row["retries"] for row in retried.values()] == [1, 1]


@pytest.mark.parametrize("protocol", ["tls1.2", "tls1.3", "quic"])
@pytest.mark.parametrize("name", ["envoy", "hypercorn"])
def test_a_recipe_for_pages_answers_handshakes(name: str, protocol: str) -> None:
    with lab_of(named(name), protocol) as place:
        row = probed(place, [protocol])[protocol]
    version = "h3" if protocol == "quic" else "h2"
    assert (row["failure"], row["http_status"], row["http_version"]) == (None, 200, version), row
