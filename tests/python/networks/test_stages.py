import pytest

from eyelevel.networks.network import Network, lab_path
from eyelevel.networks.stages import delay_ms_min, describe, queue_ms_max, rate_bit_s, with_files

DROPTAIL = {"discipline": "droptail", "limit_ms": 200.0, "limit_packets": 10}
DELAY = {"stage": "delay", "delay_ms": 20.0}
RATE = {"stage": "rate", "rate_bit_s": 10_000_000, "queue": DROPTAIL}
TRACE = {
    "stage": "trace",
    "trace": "lte.down",
    "opportunity_bytes": 1500,
    "queue": {"discipline": "codel"},
}
SCHEDULE = {
    "stage": "schedule",
    "steps": [{"at_ms": 0.0, "rate_bit_s": 1000}, {"at_ms": 100.0, "rate_bit_s": 4000}],
    "queue": {"discipline": "infinite"},
}


def test_the_slowest_link_counts_with_its_mean():
    assert rate_bit_s([DELAY], lambda name: 0) == 0
    assert rate_bit_s([RATE, TRACE], {"lte.down": 6_000_000}.__getitem__) == 6_000_000
    assert rate_bit_s([SCHEDULE], lambda name: 0) == 4000
    assert rate_bit_s([SCHEDULE | {"period_ms": 300.0}], lambda name: 0) == 3000


def test_only_what_every_packet_waits_for_is_delay():
    jitter = {"stage": "jitter", "distribution": {"kind": "uniform", "min_ms": 2.0, "max_ms": 9.0}}
    by_address = {"stage": "address_delay", "delays_ms": {"192.0.2.1": 7.0}, "default_ms": 3.0}
    normal = {"stage": "jitter", "distribution": {"kind": "normal", "mean_ms": 5.0}}
    assert delay_ms_min([DELAY, RATE, jitter, by_address, normal]) == 25.0


def test_the_tightest_limit_is_the_queue():
    assert queue_ms_max([RATE], 10_000_000) == pytest.approx(12.0)
    assert queue_ms_max([RATE | {"queue": {"discipline": "droptail", "limit_ms": 50.0}}], 1) == 50.0
    assert queue_ms_max([DELAY], 0) == 0.0


def test_files_go_by_digest_and_come_back_by_name():
    recorded = {"kind": "recorded", "delays_ms": "d.txt"}
    stages = [TRACE, {"stage": "jitter", "distribution": recorded}]
    digests = {"lte.down": "sha256:aa", "d.txt": "sha256:bb"}
    kept = with_files(stages, digests.__getitem__)
    assert kept[0]["trace"] == "sha256:aa"
    assert kept[1]["distribution"]["delays_ms"] == "sha256:bb"
    network = Network("mine", 1, 0, 0.0, 0.0, stages_down=kept, stages_up=())
    again = Network.of_settings("mine", network.settings())
    assert again == network
    path = lab_path(again, {"aa": "/there/lte.down", "bb": "/there/d.txt"})
    assert path["down"][0]["trace"] == "/there/lte.down" and path["up"] == []
    assert path["down"][1]["distribution"]["delays_ms"] == "/there/d.txt"


def test_they_are_said_in_one_line():
    said = describe([DELAY, RATE])
    assert said == (
        "delay delay_ms 20, rate rate_bit_s 10000000 queue droptail limit_ms 200.0 limit_packets 10"
    )
    assert describe([]) == "nothing"
