from dataclasses import replace
from typing import Any

import pytest

from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import REFUSED_PRESETS, STACKS, STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer

DSL = NETWORKS_BY_NAME["dsl"]
FAST = Network("fast", 1_000_000_000, 1_000_000, 200, 50)


def test_stock_tcp_leaves_windows_to_the_kernel():
    assert lab_stack(STACKS_BY_NAME["tcp"], DSL) == {
        "name": "tcp",
        "http_version": "h2",
        "congestion_control": "cubic",
        "initial_window_packets": 10,
        "pacing": False,
        "slow_start_after_idle": True,
        "ecn": "off",
        "unsent_bytes_max": 16384,
        "tls_record_bytes": 4096,
        "quic_packet_bytes": 1452,
        "tls_version": "1.3",
        "header_table_bytes": 4096,
        "early_data": False,
        "priorities": True,
        "key_exchange": "hybrid",
        "certificate_key": "ecdsa",
        "certificate_compression": "none",
        "coalescing": True,
        "think_time": "none",
        "early_hints": "none",
        "discovery": "known",
    }


def test_alt_svc_is_of_http3_alone_and_on_without_a_word():
    quic = STACKS_BY_NAME["quic"]
    assert lab_stack(quic, DSL)["alt_svc"] is True
    assert lab_stack(replace(quic, alt_svc=False), DSL)["alt_svc"] is False
    for name in ("http1", "tcp", "tcp+"):
        assert "alt_svc" not in lab_stack(STACKS_BY_NAME[name], DSL)
    own = replace(quic, external_server=ExternalServer(("server",), ("h3",)))
    assert "alt_svc" not in lab_stack(own, DSL)
    assert "somebody else's" in replace(own, alt_svc=True).refusal()


def test_keys_and_compressed_certificates_need_the_tls_that_has_them():
    tcp = STACKS_BY_NAME["tcp+"]
    assert replace(tcp, key_exchange="classical", certificate_compression="brotli").refusal() == ""
    old = replace(tcp, tls_version="1.2", certificate_compression="brotli")
    assert "needs TLS 1.3" in old.refusal()
    plain = replace(STACKS_BY_NAME["http1-plain"], key_exchange="classical")
    assert "cleartext has no keys" in plain.refusal()


def test_http3_is_found_over_http3_by_alt_svc_and_by_our_servers():
    found = replace(STACKS_BY_NAME["quic"], discovery="alt-svc")
    assert found.refusal() == ""
    assert found.protocols == ("h3", "h2")
    assert lab_stack(found, DSL)["discovery"] == "alt-svc"
    assert "without it no browser finds HTTP/3" in replace(found, alt_svc=False).refusal()
    over_tcp = replace(STACKS_BY_NAME["tcp+"], discovery="alt-svc")
    assert "`discovery` is HTTP/3's" in over_tcp.refusal()
    own = replace(found, external_server=ExternalServer(("server",), ("h3",)))
    assert "somebody else's" in own.refusal()


def test_early_hints_are_of_http2_and_3_and_of_our_servers():
    for name in ("tcp+", "quic"):
        hinted = replace(STACKS_BY_NAME[name], early_hints="auto")
        assert hinted.refusal() == ""
        assert lab_stack(hinted, DSL)["early_hints"] == "auto"
    refused = replace(STACKS_BY_NAME["http1"], early_hints="auto").refusal()
    assert refused.startswith("`early_hints`: browsers ignore them over HTTP/1.1; use HTTP/2")
    own = replace(hinted, external_server=ExternalServer(("server",), ("h3",)))
    assert "somebody else's" in own.refusal()


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("quic", {"ecn": "on"}),
        ("quic", {"unsent_bytes_max": 65_536}),
        ("tcp+", {"unsent_bytes_max": 65_536}),
        ("tcp+", {"session_tickets": True}),
        ("quic", {"header_table_bytes": 0}),
        ("quic", {"blocked_streams_max": 0}),
    ],
)
def test_of_somebody_elses_server_nothing_is_claimed_that_it_decides(base, changes):
    own = replace(STACKS_BY_NAME[base], external_server=ExternalServer(("server",), ("h2", "h3")))
    assert own.refusal() == ""
    assert "somebody else's" in replace(own, **changes).refusal()
    assert "unsent_bytes_max" not in lab_stack(own, DSL)
    # Over TCP it is the kernel that marks.
    assert (
        replace(STACKS_BY_NAME["tcp+"], ecn="on", external_server=own.external_server).refusal()
        == ""
    )


def test_tuned_tcp_offers_at_first_what_quic_does():
    assert lab_stack(STACKS_BY_NAME["tcp+"], DSL)["receive_window_bytes"] == 15 * 2**20
    assert "receive_window_bytes" not in lab_stack(STACKS_BY_NAME["quic"], DSL)


def test_little_is_unsent_on_paths_up_to_100_mbit_s_over_both_alike():
    for name in ("tcp", "tcp+", "quic"):
        stack = STACKS_BY_NAME[name]
        assert lab_stack(stack, DSL)["unsent_bytes_max"] == 16_384
        edge = replace(FAST, rate_down_bit_s=100_000_000)
        assert lab_stack(stack, edge)["unsent_bytes_max"] == 16_384
        for rate_bit_s in (100_000_001, 0):
            fast = replace(FAST, rate_down_bit_s=rate_bit_s)
            assert "unsent_bytes_max" not in lab_stack(stack, fast)
            given = replace(stack, unsent_bytes_max=65_536)
            assert lab_stack(given, fast)["unsent_bytes_max"] == 65_536
    assert "unsent_bytes_max" not in lab_stack(STACKS_BY_NAME["http1"], DSL)


def test_tuned_tcp_and_quic_are_tuned_alike():
    tcp, quic = (lab_stack(STACKS_BY_NAME[name], DSL) for name in ("tcp+", "quic"))
    for key in ("congestion_control", "initial_window_packets", "pacing", "slow_start_after_idle"):
        assert tcp[key] == quic[key]
    assert tcp["header_table_bytes"] == quic["header_table_bytes"] == 4096
    assert quic["blocked_streams_max"] == 100


def test_without_a_dynamic_table_is_not_without_saying():
    off = replace(STACKS_BY_NAME["quic"], header_table_bytes=0, blocked_streams_max=0)
    assert not off.refusal()
    assert lab_stack(off, DSL)["header_table_bytes"] == 0
    assert lab_stack(off, DSL)["blocked_streams_max"] == 0
    for name in ("http1", "http1-plain"):
        assert "header_table_bytes" not in lab_stack(STACKS_BY_NAME[name], DSL)


def test_no_preset_is_refused_that_is_listed_and_each_refused_one_says_why():
    assert [stack.name for stack in STACKS if stack.refusal()] == []
    assert all(REFUSED_PRESETS.values())
    assert not set(REFUSED_PRESETS) & set(STACKS_BY_NAME)


@pytest.mark.parametrize(
    ("base", "changes", "word"),
    [
        ("quic", {"tls_version": "1.2"}, "TLS 1.3"),
        ("quic", {"sprout_horizon": "min"}, "Sprout"),
        ("tcp", {"tls_version": "none"}, "over TLS only"),
        ("tcp+tls1.2", {"early_data": True}, "TLS 1.3"),
        ("http1-plain", {"early_data": True}, "TLS 1.3"),
        ("http1", {"header_table_bytes": 0}, "compresses no header"),
        ("tcp+", {"header_table_bytes": 8192}, "at most 4096"),
        ("tcp+", {"blocked_streams_max": 0}, "QPACK's"),
        ("tcp+", {"congestion_control": "sprout_ewma", "pacing": False}, "kernel"),
        ("quic", {"probe_gain": 1.25}, "Sprout"),
        ("quic+bbr", {"pacing": False}, "paces"),
        ("quic+sprout", {"pacing": True}, "never"),
        ("quic", {"receive_window_bytes": 4096}, "is TCP's"),
        ("http1", {"unsent_bytes_max": 4096}, "one response"),
        ("quic", {"tls_record_bytes": 16384}, "TLS records"),
        ("http1-plain", {"tls_record_bytes": 16384}, "TLS records"),
        ("tcp+", {"quic_packet_bytes": 1200}, "QUIC's"),
        ("http1-plain", {"certificate_chain_bytes": 10_000}, "need TLS"),
        ("http1-plain", {"certificate_key": "rsa"}, "need TLS"),
        ("tcp+", {"alt_svc": True}, "another protocol"),
        ("http1", {"alt_svc": False}, "another protocol"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(
    base: str, changes: dict[str, Any], word: str
) -> None:
    assert word in replace(STACKS_BY_NAME[base], **changes).refusal()
