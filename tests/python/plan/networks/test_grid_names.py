"""das-RATE-RTT is a network wherever a name is taken, at any rate and round trip."""

import pytest

from eyelevel.base.errors import NetworkError, PlanError
from eyelevel.plan.file.change import question_plan
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME, find_network, get_network


def _plan(networks: str) -> str:
    stacks = 'stacks = ["tcp", "quic"]\nreference = "tcp"'
    return f'sites = ["a"]\nnetworks = [{networks}]\n{stacks}\nblocks = 2\n'


def test_a_cell_off_the_grid_has_its_numbers_and_the_grids_queue() -> None:
    cell = find_network("das-1.7-151")
    assert (cell.rate_down_bit_s, cell.rate_up_bit_s) == (1_700_000, 1_700_000)
    assert (cell.rtt_ms_min, cell.queue_ms, cell.queue_bytes_min) == (151, 151, 3000)


def test_a_cell_has_one_name_however_it_is_written() -> None:
    assert get_network("das-1.70-150.0") == NETWORKS_BY_NAME["das-1.7-150"]
    assert parse_plan(_plan('"das-1.70-151"'), "p").networks == (find_network("das-1.7-151"),)
    with pytest.raises(PlanError, match="used twice"):
        parse_plan(_plan('"das-1.70-151", "das-1.7-151"'), "p")


def test_plans_and_questions_take_it() -> None:
    (network,) = parse_plan(_plan('"das-1.7-151"'), "p").networks
    assert network == find_network("das-1.7-151")
    assert '"das-1.7-151"' in question_plan(["a"], "http3", ["das-1.7-151"])


def test_a_plans_own_network_may_not_take_such_a_name() -> None:
    with pytest.raises(PlanError, match="name of a preset"):
        parse_plan(_plan('{ name = "das-2-40", base = "dsl", rtt_ms_min = 9.0 }'), "p")


@pytest.mark.parametrize("name", ["das-0-30", "das-1-0", "das-1-99999", "das--1-3", "das-1-3x"])
def test_what_is_no_cell_is_refused(name: str) -> None:
    with pytest.raises(NetworkError, match="das-RATE-RTT"):
        find_network(name)
