"""Cells of the yardstick: what they say of a network, and how they are kept."""

import json
from dataclasses import asdict

import pytest

from eyelevel.networks import NetworkError
from eyelevel.run import stack_cache
from eyelevel.run.stack_cells import Cell, Side, ratio_of
from eyelevel.run.stack_validation import grid, network_of, presets
from eyelevel.store.yardstick import notes, row


def side(
    stack: str, mbit_s: float, repeated: int = 200, late_us: float = 90.0, failed: int = 0
) -> Side:
    runs = tuple(mbit_s * 1e6 * factor for factor in (0.98, 1.0, 1.02))
    return Side(
        stack, mbit_s * 0.96e6, mbit_s * 1e6, repeated, 0.0123, 4.0, 11.6, late_us, failed, runs
    )


def cell(quic_mbit_s: float, loss: float = 0.0, **of_quic: float) -> Cell:
    quic = side("quic", quic_mbit_s, **of_quic)
    return Cell.of("dsl", loss, "cubic", side("tcp+", 10.0), quic)


def test_a_ratio_of_equal_sides_is_one_and_its_interval_holds_it() -> None:
    ratio, low, high = ratio_of([9.0, 10.0, 11.0], [11.0, 10.0, 9.0])
    assert ratio == pytest.approx(1.0)
    assert low is not None and high is not None and low < 1.0 < high


def test_a_side_that_moved_nothing_has_no_ratio() -> None:
    assert ratio_of([0.0, 1.0], [1.0, 1.0]) == (None, None, None)


def test_a_cell_says_what_to_bear_in_mind() -> None:
    assert notes(asdict(cell(9.5))) == []
    assert notes(asdict(cell(8.0))) == ["beyond the aim"]
    assert notes(asdict(cell(8.0, loss=0.01))) == []
    assert notes(asdict(cell(8.0, loss=0.01, repeated=99))) == ["few losses"]
    assert notes(asdict(cell(9.5, failed=1))) == ["1 broke off"]
    assert notes(asdict(cell(9.5, late_us=1001.0))) == ["machine too busy"]


def test_a_row_has_both_sides() -> None:
    said = row(asdict(cell(9.5)))
    assert said[:5] == ["dsl", "cubic", "10.000", "9.500", "0.950"]
    assert said[6:] == ["1.23 / 1.23", "12 / 12"]


def test_the_networks_are_the_presets_and_the_grid() -> None:
    assert len(presets()) == 5 and len(grid()) == 24
    found = network_of("200ms-0.5%")
    assert (found.rtt_ms_min, found.loss_down, found.loss_up) == (200.0, 0.005, 0.005)
    with pytest.raises(NetworkError, match=r"did you mean `200ms-0\.[15]%`"):
        network_of("200ms-0.4%")


def test_cells_are_kept_for_one_build_on_one_kernel(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(stack_cache, "build", lambda: {"kernel": "1"})
    first, second = cell(9.5), cell(9.0, loss=0.01)
    stack_cache.write_cell({"network": "b"}, 1, second)
    stack_cache.write_cell({"network": "a", "runs": 5}, 0, first)
    assert stack_cache.read_cell({"network": "b"}) == second
    # The table has each network and control once.
    assert stack_cache.measured_cells() in ([first], [second])
    (tmp_path / "eyelevel" / "stacks" / "x").mkdir()
    for file in (tmp_path / "eyelevel" / "stacks").glob("*/*.json"):
        file.write_text(json.dumps({"order": 0, "cell": {"network": "of another shape"}}))
    assert stack_cache.measured_cells() == []
    monkeypatch.setattr(stack_cache, "build", lambda: {"kernel": "2"})
    assert stack_cache.read_cell({"network": "a", "runs": 5}) is None
