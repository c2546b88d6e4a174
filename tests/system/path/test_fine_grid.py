"""The fine grid in virtual time, through the binary."""

import pytest

from eyelevel.base.errors import LabError
from eyelevel.calibration.validation.fine_grid import fine_grid, simulate


def test_loss_costs_cubic_its_goodput_and_bbr_little() -> None:
    cells = fine_grid(["cubic", "bbr"], [0.0, 0.01], [40.0])
    goodput = {(each.congestion_control, each.loss): each.goodput_bit_s / 1e6 for each in cells}
    assert goodput["cubic", 0.0] > 9.5 and goodput["bbr", 0.0] > 9.5
    assert goodput["cubic", 0.01] < 4.0 and goodput["bbr", 0.01] > 7.0
    assert fine_grid(["cubic"], [0.01], [40.0]) == [cells[1]]


def test_what_cannot_be_simulated_is_one_line() -> None:
    with pytest.raises(LabError, match="unknown field"):
        simulate([{"speed": 3}])
