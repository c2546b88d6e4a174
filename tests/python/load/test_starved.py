"""A suspension is the first reason, whatever else held."""

import pytest

from eyelevel.analysis.trials.starvation import describe_suspension
from eyelevel.load.rules import find_starvation

IN_TIME = {"lateness_us_p99": 90.0, "lateness_us_max": 400.0}
SIDE = {**IN_TIME, "arrival": IN_TIME}
PATH = {"down": SIDE, "up": SIDE, "lost_outside": {"client": None, "server": None}}
CALM = {"cpu_steal_share": 0.0}


def still(process, ms):
    return {"process": process, "at_ns": ms and 1, "ms": ms}


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ([still("chromium (renderer)", 204.1)], "chromium (renderer) was suspended for 0.2 s"),
        (
            [still("chromium", 100.2), still("the lab", 1003.0), still("Xvfb", None)],
            "the lab was suspended for 1.0 s; so were 2 more",
        ),
        ([still("ffmpeg", None)], "ffmpeg was suspended"),
        ([], ""),
        (None, ""),
    ],
)
def test_a_load_with_a_suspended_process_is_starved(seen, reason):
    host = {**CALM, "suspended": seen}
    assert find_starvation(PATH, host, 24.0) == reason
    assert describe_suspension(host) == reason


def test_a_record_of_before_says_nothing_of_it():
    assert find_starvation(PATH, CALM, 24.0) == describe_suspension(CALM) == ""


def test_a_transfer_alone_is_starved_by_steal():
    assert "hypervisor took 2.1%" in find_starvation(PATH, {"cpu_steal_share": 0.021}, 24.0)
