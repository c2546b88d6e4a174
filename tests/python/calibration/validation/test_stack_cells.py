"""Cells of the yardstick: what they say of a network, and how they are kept."""

import json
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from eyelevel.analysis.yardstick import notes, row
from eyelevel.base.errors import LabError, NetworkError
from eyelevel.calibration.validation import stacks
from eyelevel.calibration.validation import stacks as stack_validation
from eyelevel.calibration.validation.bulk import Bulk
from eyelevel.calibration.validation.short_flows import FlowSide
from eyelevel.calibration.validation.stacks import (
    Cell,
    Side,
    body_bytes,
    fast_presets,
    grid,
    network_of,
    presets,
    ratio_of,
)


def side(
    stack: str,
    mbit_s: float,
    repeated: int = 200,
    late_us: float = 90.0,
    failed: int = 0,
    lost: int = 0,
) -> Side:
    runs = tuple(mbit_s * 1e6 * factor for factor in (0.98, 1.0, 1.02))
    return Side(
        stack,
        mbit_s * 0.96e6,
        mbit_s * 1e6,
        repeated,
        0.0123,
        4.0,
        11.6,
        late_us,
        lost,
        failed,
        runs,
    )


def cell(quic_mbit_s: float, loss: float = 0.0, **of_quic: float) -> Cell:
    quic = side("quic", quic_mbit_s, **of_quic)
    return Cell.of("dsl", loss, "cubic", side("tcp+", 10.0), quic)


def test_a_ratio_of_equal_sides_is_one_and_its_interval_holds_it() -> None:
    ratio = ratio_of([9.0, 10.0, 11.0], [11.0, 10.0, 9.0])
    assert ratio.value == pytest.approx(1.0)
    assert ratio.low is not None and ratio.high is not None and ratio.low < 1.0 < ratio.high


def test_a_side_that_moved_nothing_has_no_ratio() -> None:
    assert ratio_of([0.0, 1.0], [1.0, 1.0]).value is None


def test_a_cell_says_what_to_bear_in_mind() -> None:
    assert notes(cell(9.5).as_json()) == []
    assert notes(cell(8.0).as_json()) == ["beyond the aim"]
    assert notes(cell(8.0, loss=0.01).as_json()) == []
    assert notes(cell(8.0, loss=0.01, repeated=99).as_json()) == ["few losses"]
    assert notes(cell(9.5, failed=1).as_json()) == ["1 ended early"]
    assert notes(cell(9.5, late_us=1001.0).as_json()) == ["machine too busy"]
    assert notes(cell(9.5, lost=332).as_json()) == ["332 packets lost outside the path"]


def test_sides_pool_what_their_transfers_lost_beside_the_path() -> None:
    moved = [replace(SOME_BULK, lost_outside_packets=count) for count in (0, 3, 4)]
    assert Side.of("quic", moved, 0.96, 0).lost_outside_packets == 7
    assert FlowSide.of("quic", moved, 100.0).lost_outside_packets == 7


def test_a_row_has_both_sides() -> None:
    said = row(cell(9.5).as_json())
    assert said[:5] == ["dsl", "cubic", "10.000", "9.500", "0.950"]
    assert said[6:] == ["1.23 / 1.23", "12 / 12"]


def test_the_networks_are_the_presets_and_the_grid() -> None:
    assert len(presets()) == 5 and len(grid()) == 24
    rates = {each.name: (each.rate_down_bit_s / 1e6, each.course()) for each in fast_presets()}
    assert rates == {
        "starlink": (105, "satellite model"),
        "5g": (220, "cellular model"),
        "starlink-even": (105, "constant"),
        "5g-even": (220, "constant"),
    }
    assert network_of("5g-even").rtt_ms_min == network_of("5g").rtt_ms_min == 51
    found = network_of("200ms-0.5%")
    assert (found.rtt_ms_min, found.loss_down, found.loss_up) == (200.0, 0.005, 0.005)
    with pytest.raises(NetworkError, match=r"did you mean `200ms-0\.[15]%`"):
        network_of("200ms-0.4%")


def test_a_fast_network_moves_for_as_long_as_the_fastest_of_the_papers() -> None:
    assert {body_bytes(each) for each in (*presets(), *grid())} == {10_000_000}
    assert body_bytes(network_of("starlink")) == 42_000_000
    assert body_bytes(network_of("5g")) == 88_000_000


SOME_BULK = Bulk(
    body_bytes=10_000_000,
    duration_ms=3300.0,
    connect_ms=50.0,
    goodput_bit_s=24e6,
    complete=True,
    wire_bytes=10_400_000,
    sent_packets=7000,
    retransmitted_packets=0,
    queue_delay_ms_p50=4.0,
    queue_delay_ms_p95=11.6,
    lateness_us_p99=90.0,
    lost_outside_packets=0,
    first_flight_packets=32,
    first_flight_span_ms=9.0,
    server_cpu_s=0.1,
    in_force={},
)


@pytest.mark.parametrize("stopped", [False, True])
def test_a_transfer_that_ends_with_the_command_has_not_broken_off(monkeypatch, stopped) -> None:
    stopping, told = Event(), []

    def run(network, name, site, seed):
        told.append(name)
        if len(told) == 3:
            if stopped:
                stopping.set()
            raise LabError("the lab ended")
        return replace(SOME_BULK, goodput_bit_s=1e6 * len(told))

    monkeypatch.setattr(stack_validation, "_run", run)
    monkeypatch.setattr(stack_validation, "header_share", lambda name: 0.96)
    arguments = (network_of("dsl"), ("tcp+", "quic"), 3, (Path("site"), "url"), stopping)
    if stopped:
        with pytest.raises(LabError):
            stack_validation._measure(*arguments)
    else:
        cell = stack_validation._measure(*arguments)
        assert cell.tcp.failed_runs + cell.quic.failed_runs == 1


def test_cells_are_kept_for_one_build_on_one_kernel(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(stacks, "build", lambda: {"kernel": "1"})
    first, second = cell(9.5), cell(9.0, loss=0.01)
    stacks.write_cell({"network": "b"}, 1, second)
    stacks.write_cell({"network": "a", "runs": 5}, 0, first)
    assert stacks.read_cell({"network": "b"}) == second
    # The table has each network and control once.
    assert stacks.read_cells() in ([first], [second])
    (tmp_path / "eyelevel" / "stacks" / "x").mkdir()
    for file in (tmp_path / "eyelevel" / "stacks").glob("*/*.json"):
        file.write_text(json.dumps({"order": 0, "cell": {"network": "of another shape"}}))
    assert stacks.read_cells() == []
    monkeypatch.setattr(stacks, "build", lambda: {"kernel": "2"})
    assert stacks.read_cell({"network": "a", "runs": 5}) is None
