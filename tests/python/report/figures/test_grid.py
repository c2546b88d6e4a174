"""Which networks of a plan span a grid, so that a map and nine panels can be drawn of them."""

from dataclasses import replace

import pytest

from eyelevel.plan.networks.presets import GROUPS, find_network
from eyelevel.report.figures.site_gains import grid_of

SMALL = ["das-3-30", "das-3-120", "das-25-30", "das-25-120"]


def named(*names):
    return [find_network(name) for name in names]


@pytest.mark.parametrize(
    "beside", ["dsl", "lte", "3g", "4g", "cable", "das-verizon-30", "das-3-77", "das-7-30"]
)
def test_a_network_that_is_not_of_the_grid_has_no_place_in_it(beside):
    found = grid_of(named(beside, *SMALL, "unshaped"))
    assert found["network"].to_list() == SMALL


def test_one_at_a_cell_of_the_grid_but_with_other_loss_or_queue_takes_nothing_from_it():
    cell = find_network("das-3-30")
    others = [
        replace(cell, name="lossy", loss_down=0.01),
        replace(cell, name="asymmetric", rate_up_bit_s=1_000_000),
        replace(cell, name="bloated", queue_ms=500.0),
    ]
    assert grid_of([*others, *named(*SMALL)])["network"].to_list() == SMALL


def test_das_grid_is_whole_with_the_rate_of_his_caption():
    (grid,) = [group.networks for group in GROUPS if group.name == "das"]
    (caption,) = [group.networks for group in GROUPS if group.name == "das-24"]
    found = grid_of([*grid, *caption])
    assert found.height == 103 and set(found["rate_mbit_s"]) == {
        0.2, 0.3, 0.6, 1, 1.7, 3, 5, 8, 14, 24, 25,
    }  # fmt: skip


@pytest.mark.parametrize("queue_ms", [50.0, 200.0, None])
def test_a_plans_own_grid_is_one_with_queues_in_time_or_in_round_trips(queue_ms):
    cell = find_network("dsl")
    cells = [
        replace(
            cell,
            name=f"{rate}-{rtt}",
            rate_down_bit_s=rate * 10**6,
            rate_up_bit_s=rate * 10**5,
            rtt_ms_min=rtt,
            queue_ms=queue_ms or rtt,
        )
        for rate in (1, 10)
        for rtt in (20.0, 50.0, 200.0)
    ]
    assert grid_of(cells).height == 6


@pytest.mark.parametrize(
    "names",
    [
        ("dsl", "lte", "3g", "da2gc", "mss"),
        ("das-3-30", "das-25-120"),
        ("das-3-30", "das-3-120", "das-25-30"),
        ("das-3-30", "das-3-120"),
        (),
    ],
)
def test_networks_that_cross_at_no_rate_and_round_trip_are_no_grid(names):
    assert grid_of(named(*names)).is_empty()


def test_of_two_grids_the_larger_is_drawn_and_of_two_as_large_none():
    lossy = [replace(each, name=f"{each.name}-lossy", loss_down=0.01) for each in named(*SMALL)]
    larger = named(*SMALL, "das-25-300", "das-3-300")
    assert grid_of([*lossy, *larger]).height == 6
    assert grid_of([*lossy, *named(*SMALL)]).is_empty()


def test_two_networks_at_one_place_leave_no_grid():
    again = replace(find_network("das-3-30"), name="again")
    assert grid_of([again, *named(*SMALL)]).is_empty()
