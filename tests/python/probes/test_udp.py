"""When QUIC is said to pass, to be blocked, or neither."""

from typing import Any

import pytest

from eyelevel.probes.udp import passage

H3 = 'h3=":443"; ma=86400'


def tls(address: str, **fields: Any) -> dict[str, Any]:
    row = {"host": f"{address}.example", "port": 443, "address": address, "protocol": "tls1.3"}
    row |= {"failure": None, "alt_svc": H3, "rtt_us": 9, "version_negotiation": False}
    return row | fields


def quic(address: str, failure: str | None = None, rtt_us: int | None = None) -> dict[str, Any]:
    return tls(address, protocol="quic", failure=failure, rtt_us=rtt_us, alt_svc=None)


SILENT = [tls("192.0.2.1"), quic("192.0.2.1", "quic-timeout")]
ALSO_SILENT = [tls("192.0.2.2"), quic("192.0.2.2", "unreachable")]


def silent(host: str, address: str, alt_svc: str = H3) -> list[dict[str, Any]]:
    return [
        tls(address, host=host, alt_svc=alt_svc), quic(address, "quic-timeout") | {"host": host}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rows, verdict",
    [
        ([tls("192.0.2.1"), quic("192.0.2.1")], "passes"),
        ([quic("192.0.2.1", "certificate", 900)], "passes"),
        ([*SILENT, *ALSO_SILENT, quic("192.0.2.3", "quic-timeout", 900)], "passes"),
        ([*SILENT, *ALSO_SILENT], "blocked"),
        (SILENT, "undetermined"),
        ([*SILENT, *SILENT], "undetermined"),
        ([*SILENT, tls("192.0.2.2", alt_svc=None), quic("192.0.2.2", "refused")], "undetermined"),
        (
            [*SILENT, tls("192.0.2.2", alt_svc='h3=":8443"'), quic("192.0.2.2", "refused")],
            "undetermined",
        ),
        ([*SILENT, tls("192.0.2.2", failure="refused"), quic("192.0.2.2", "refused")],
         "undetermined"),
        ([*SILENT, tls("192.0.2.2"), quic("192.0.2.2", "local")], "undetermined"),
        ([], "undetermined"),
        # One server: a host of two families, and two names of one address, which has another.
        ([*silent("a", "192.0.2.1"), *silent("a", "2001:db8::1")], "undetermined"),
        ([*silent("a", "192.0.2.1"), *silent("b", "192.0.2.1")], "undetermined"),
        ([*silent("a", "192.0.2.1"), *silent("b", "2001:db8::1"), *silent("a", "2001:db8::1")],
         "undetermined"),
        ([*silent("a", "192.0.2.1"), *silent("a", "2001:db8::1"), *silent("b", "192.0.2.2")],
         "blocked"),
        # What another host offers these addresses need not have.
        ([*silent("a", "192.0.2.1", 'h3="cdn.example:443"'),
          *silent("b", "192.0.2.2", 'h3="cdn.example:443"')], "undetermined"),
        ([*silent("a.example", "192.0.2.1", 'h3="A.example:443"'), *silent("b", "192.0.2.2")],
         "blocked"),
    ],
)  # fmt: skip
def test_silence_is_the_networks_only_where_it_is_not_the_servers(
    rows: list[dict[str, Any]], verdict: str
) -> None:
    found = passage(rows)
    assert found.verdict == verdict, found
    assert found.as_json()["verdict"] == verdict
