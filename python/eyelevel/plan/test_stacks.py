from eyelevel.networks import NETWORKS_BY_NAME, Network
from eyelevel.plan.stacks import STACKS_BY_NAME, lab_stack

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
    }


def test_tuned_tcp_has_at_least_4_mb_of_buffer():
    assert lab_stack(STACKS_BY_NAME["tcp+"], DSL)["buffer_bytes_max"] == 4 * 2**20


def test_tuned_tcp_has_twice_the_bandwidth_delay_product_of_a_fast_path():
    # 1 Gbit/s x 200 ms = 25 MB
    assert lab_stack(STACKS_BY_NAME["tcp+"], FAST)["buffer_bytes_max"] == 50_000_000


def test_tuned_tcp_and_quic_are_tuned_alike():
    tcp, quic = (lab_stack(STACKS_BY_NAME[name], DSL) for name in ("tcp+", "quic"))
    for key in ("congestion_control", "initial_window_packets", "pacing", "slow_start_after_idle"):
        assert tcp[key] == quic[key]
