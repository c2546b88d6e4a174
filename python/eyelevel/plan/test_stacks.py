from dataclasses import replace
from typing import Any

import pytest

from eyelevel.networks import NETWORKS_BY_NAME, Network
from eyelevel.plan.stacks import REFUSED_PRESETS, STACKS, STACKS_BY_NAME, lab_stack

DSL = NETWORKS_BY_NAME["dsl"]
FAST = Network("fast", 1_000_000_000, 1_000_000, 200, 50)


def test_stock_tcp_leaves_buffers_to_the_kernel():
    assert lab_stack(STACKS_BY_NAME["tcp"], DSL) == {
        "name": "tcp",
        "http_version": "h2",
        "congestion_control": "cubic",
        "initial_window_packets": 10,
        "pacing": False,
        "slow_start_after_idle": True,
        "buffer_bytes_max": None,
        "tls_record_bytes": 4096,
        "quic_packet_bytes": 1452,
        "tls_version": "1.3",
        "probe_gain": None,
        "header_table_bytes": None,
        "early_data": False,
        "priorities": True,
        "certificate_key": "ecdsa",
        "certificate_chain_bytes": None,
        "coalescing": True,
        "think_time": "none",
    }


def test_a_setting_that_came_later_changes_no_hash_but_its_own():
    sprout = STACKS_BY_NAME["quic+sprout"]
    assert "sprout_horizon" not in lab_stack(sprout, DSL)
    assert lab_stack(replace(sprout, sprout_horizon="min"), DSL)["sprout_horizon"] == "min"


def test_tuned_tcp_has_at_least_4_mb_of_buffer():
    assert lab_stack(STACKS_BY_NAME["tcp+"], DSL)["buffer_bytes_max"] == 4 * 2**20


def test_tuned_tcp_has_twice_the_bandwidth_delay_product_of_a_fast_path():
    # 1 Gbit/s x 200 ms = 25 MB
    assert lab_stack(STACKS_BY_NAME["tcp+"], FAST)["buffer_bytes_max"] == 50_000_000


def test_tuned_tcp_and_quic_are_tuned_alike():
    tcp, quic = (lab_stack(STACKS_BY_NAME[name], DSL) for name in ("tcp+", "quic"))
    for key in ("congestion_control", "initial_window_packets", "pacing", "slow_start_after_idle"):
        assert tcp[key] == quic[key]


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
        ("http1", {"header_table_bytes": 0}, "HPACK"),
        ("quic", {"header_table_bytes": 4096}, "static"),
        ("tcp+", {"congestion_control": "sprout_ewma", "pacing": False}, "kernel"),
        ("quic", {"probe_gain": 1.25}, "Sprout"),
        ("quic+bbr", {"pacing": False}, "paces"),
        ("quic+sprout", {"pacing": True}, "never"),
        ("quic", {"buffer_bytes_max": 4096}, "TCP buffers"),
        ("quic", {"tls_record_bytes": 16384}, "TLS records"),
        ("http1-plain", {"tls_record_bytes": 16384}, "TLS records"),
        ("tcp+", {"quic_packet_bytes": 1200}, "QUIC's"),
        ("http1-plain", {"certificate_chain_bytes": 10_000}, "need TLS"),
        ("http1-plain", {"certificate_key": "rsa"}, "need TLS"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(
    base: str, changes: dict[str, Any], word: str
) -> None:
    assert word in replace(STACKS_BY_NAME[base], **changes).refusal()
