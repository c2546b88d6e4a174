"""One worker a machine and scheduler, whose slots try again ever more rarely."""

import pytest

from eyelevel.cluster.connection import ClusterError
from eyelevel.cluster.dialling import LASTED_S, PAUSE_S_MAX, Dialling, only_worker

ADDRESS = "tcp://127.0.0.1:1"


def test_a_second_worker_for_a_scheduler_is_refused_until_the_first_has_ended():
    with only_worker("m", ADDRESS):
        with only_worker("n", ADDRESS), only_worker("m", "tcp://127.0.0.1:2"):
            pass
        with pytest.raises(ClusterError, match="has an eyelevel worker for it already; end that"):
            only_worker("m", ADDRESS).__enter__()
    with only_worker("m", ADDRESS):
        pass


def test_tries_become_rarer_and_what_is_said_is_said_once_until_it_held():
    said = []
    dialling = Dialling(said.append)
    assert [dialling.failed("nobody") for _ in range(7)] == [1, 2, 4, 8, 16, 30, PAUSE_S_MAX]
    assert said == ["nobody; trying again"]
    dialling.failed("no way")
    assert len(said) == 2
    assert dialling.failed("no way", LASTED_S) == 1 and len(said) == 3
