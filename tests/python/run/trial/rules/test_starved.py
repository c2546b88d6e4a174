"""What stood still is the first reason, whatever else held."""

import pytest

from eyelevel.run.trial.rules.starved import starved, stood_still

IN_TIME = {"lateness_us_p99": 90.0, "lateness_us_max": 400.0}
SIDE = {**IN_TIME, "arrival": IN_TIME}
PATH = {"down": SIDE, "up": SIDE, "lost_outside": {"client": None, "server": None}}
CALM = {"cpu_steal_share": 0.0}


def still(process, ms):
    return {"process": process, "at_ns": ms and 1, "ms": ms}


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ([still("chromium (renderer)", 204.1)], "chromium (renderer) stood still for 0.2 s"),
        (
            [still("chromium", 100.2), still("the lab", 1003.0), still("Xvfb", None)],
            "the lab stood still for 1.0 s; so did 2 more",
        ),
        ([still("ffmpeg", None)], "ffmpeg stood still"),
        ([], ""),
        (None, ""),
    ],
)
def test_a_load_of_which_something_stood_still_is_starved(seen, reason):
    host = {**CALM, "stood_still": seen}
    assert starved(PATH, host, 24.0) == reason
    assert stood_still(host) == reason


def test_a_record_of_before_says_nothing_of_it():
    assert starved(PATH, CALM, 24.0) == stood_still(CALM) == ""


def test_a_transfer_alone_is_starved_by_steal():
    assert "hypervisor took 2.1%" in starved(PATH, {"cpu_steal_share": 0.021}, 24.0)
