import pytest

from eyelevel.plan.stacks import connection_type


@pytest.mark.parametrize(
    ("rtt_ms", "said"),
    [
        (0, "4g"),
        (271.9, "4g"),
        (272, "3g"),
        (1419, "3g"),
        (1420, "2g"),
        (2009, "2g"),
        (2010, "slow-2g"),
        (60_000, "slow-2g"),
    ],
)
def test_a_round_trip_is_of_the_type_that_chromium_says(rtt_ms: float, said: str):
    assert connection_type("network", rtt_ms) == said


def test_a_given_type_is_no_networks():
    assert connection_type("4g", 3000) == "4g"
    assert connection_type("measured", 3000) == "measured"
