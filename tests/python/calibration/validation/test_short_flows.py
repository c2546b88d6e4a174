"""Short flows: what theory says of them, and how what was measured is kept and told."""

from dataclasses import replace

import pytest

from eyelevel.analysis.yardstick import flow_notes, flow_row
from eyelevel.calibration.validation import short_flows as flows
from eyelevel.calibration.validation import stacks
from eyelevel.calibration.validation.short_flows import (
    FLOW_BYTES,
    REQUEST_BYTES,
    Flow,
    FlowSide,
    last_byte_ms,
)
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stack_presets import STACKS_BY_NAME

TCP, QUIC = STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"]
FAST = Network("fast", 10**12, 10**12, 100.0, 200.0)
UNPACED = replace(TCP, pacing=False)


def packets(count):
    """A body of so many full packets where headers take nothing."""
    return count * 1500


@pytest.mark.parametrize(
    ("count", "round_trips"), [(1, 1), (32, 1), (33, 2), (96, 2), (97, 3), (224, 3), (225, 4)]
)
def test_a_window_of_32_packets_doubles_each_round_trip(count, round_trips):
    found = last_byte_ms(FAST, UNPACED, packets(count), 1.0)
    assert found == pytest.approx(100 * round_trips, abs=0.01)


def test_a_first_window_of_10_takes_a_round_trip_more():
    stock = replace(UNPACED, initial_window_packets=10)
    assert last_byte_ms(FAST, stock, packets(32), 1.0) == pytest.approx(300, abs=0.01)


def test_what_is_paced_leaves_at_two_windows_a_round_trip():
    # Ten unpaced packets, two of them the handshake's: 24 gaps of 1/64 round trip follow.
    found = last_byte_ms(FAST, TCP, packets(32), 1.0)
    assert found == pytest.approx(100 + 24 * 100 / 64, abs=0.01)


def test_a_slow_link_takes_the_time_of_the_bytes_on_the_wire():
    slow = Network("slow", 1_000_000, 500_000, 40.0, 200.0)
    # 60,000 bytes of which headers left 0.96 of the wire, one way twice, the request on its way up.
    wire_ms = 60_000 / 0.96 * 8 / 1e3
    up_ms = REQUEST_BYTES["h2"] * 8 / 500
    assert last_byte_ms(slow, TCP, 60_000, 0.96) == pytest.approx(40 + up_ms + wire_ms, abs=0.1)


def test_quics_request_waits_for_a_full_datagram_but_not_while_the_handshake_comes():
    slow_up = Network("slow up", 10**9, 468_000, 100.0, 200.0)
    later = last_byte_ms(slow_up, QUIC, 1000, 0.96) - last_byte_ms(slow_up, TCP, 1000, 0.96)
    assert later == pytest.approx((1228 + 405 - 490) * 8 / 468, rel=0.05)
    slow = replace(slow_up, rate_down_bit_s=468_000)
    later = last_byte_ms(slow, QUIC, 1000, 0.96) - last_byte_ms(slow, TCP, 1000, 0.96)
    assert later == pytest.approx((50 + 405 - 490) * 8 / 468, abs=0.1)


def flow(quic_ms=98.0, late_us=90.0, lost=0):
    tcp = FlowSide("tcp+", 100.0, 90.0, 3, 80.0, 0, (99.0, 100.0, 101.0))
    quic = FlowSide("quic", quic_ms, 91.0, 1, late_us, lost, (quic_ms - 1, quic_ms, quic_ms + 1))
    return Flow.of(Network("dsl", 1, 1, 1.0, 1.0), "cubic", 10_000, tcp, quic)


def test_a_flow_says_times_ratio_and_theory():
    said = flow_row(flow().as_json())
    assert said[:6] == ["dsl", "cubic", "10,000", "100.0", "98.0", "0.980"]
    assert said[7:] == ["90 / 91, 1.011", "3 / 1"]
    assert flow_notes(flow().as_json()) == []
    assert flow_notes(flow(late_us=1001.0).as_json()) == ["machine too busy"]
    assert flow_notes(flow(lost=2).as_json()) == ["2 packets lost outside the path"]


def test_what_was_measured_is_read_and_the_rest_is_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(stacks, "build", lambda: {"kernel": "1"})
    measured, breaks = [], [True]

    def measure(network, pair, size, runs, site):
        if breaks[0] and size == FLOW_BYTES[2]:
            raise KeyboardInterrupt
        measured.append((size, runs))
        return replace(flow(), body_bytes=size)

    monkeypatch.setattr(flows, "_measure", measure)
    monkeypatch.setattr(flows, "header_share", lambda name: 0.96)
    network, pairs = Network("dsl", 25_000_000, 5_000_000, 24.0, 12.0), [("tcp+", "quic")]
    steps = []
    with pytest.raises(KeyboardInterrupt):
        flows.short_flows([network], pairs, 2, steps.append)
    breaks[0] = False
    found = flows.short_flows([network], pairs, 2, steps.append)
    assert [each.body_bytes for each in found] == list(FLOW_BYTES)
    assert sorted(size for size, _ in measured) == list(FLOW_BYTES), "each once"
    # One of another shape is measured anew.
    for file in tmp_path.glob("eyelevel/stacks/*/flows/*.json"):
        file.write_text('{"network": "dsl"}')
    assert flows.short_flows([network], pairs, 2, steps.append) == found
    # A network with loss is another, and has more runs.
    flows.short_flows([replace(network, loss_down=0.01)], pairs, None, steps.append)
    assert {runs for _, runs in measured[-5:]} == {flows.RUNS_LOSSY}
