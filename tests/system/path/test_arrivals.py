"""Packets enter the path when the kernel saw them come, and who reads them late is seen."""

import os
import select
import time

import pytest
from raw_lab import NOBODY, SENDER, inside, raw_lab, send, stopped, summary_of

from eyelevel.load.rules import find_starvation

STOPPED_S = 0.006
"""Longer than a packet may be late."""

pytestmark = [
    pytest.mark.alone,
    pytest.mark.usefixtures("labs"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to stop and to enter a lab"),
]


@pytest.mark.parametrize("user", [(), NOBODY], ids=["root", "nobody"])
def test_whoever_reads_late_is_seen_though_all_is_released_in_time(user: tuple[str, ...]) -> None:
    with (
        raw_lab(user, delay_ms=200) as (process, ready),
        inside(ready, SENDER, ready["server_address"]) as outgoing,
    ):
        send(outgoing, 5)
        with stopped(ready):
            sent_ns = send(outgoing, 3)
            select.select([], [], [], STOPPED_S)
            waited_us = (time.monotonic_ns() - sent_ns) / 1e3
        path = summary_of(process)
    arrival = path["up"]["arrival"]
    assert path["up"]["packets"] >= 8
    assert arrival["unstamped_packets"] == 0
    assert arrival["lateness_us_max"] >= waited_us >= STOPPED_S * 1e6
    # Nothing was due meanwhile: by the releases alone nobody would know.
    for way in ("down", "up"):
        path[way] |= {"lateness_us_p99": 0, "lateness_us_max": 0}
    # What the machine did to the one packet of the other direction is not asked here.
    path["down"]["arrival"] |= {"lateness_us_p99": 0, "lateness_us_max": 0}
    assert "up were read" in find_starvation(path, {"cpu_steal_share": 0.0}, 400.0)


def test_the_kernels_stamps_are_of_the_labs_own_device() -> None:
    """Another lab's packets have no place in this one's."""
    with raw_lab(()) as (first, ready), raw_lab(()) as (second, other):
        with inside(ready, SENDER, ready["server_address"]) as outgoing:
            send(outgoing, 40)
        with inside(other, SENDER, other["server_address"]) as outgoing:
            send(outgoing, 2)
        paths = summary_of(first), summary_of(second)
    assert [path["up"]["arrival"]["unstamped_packets"] for path in paths] == [0, 0]
    assert paths[0]["up"]["packets"] >= 40 > paths[1]["up"]["packets"]
