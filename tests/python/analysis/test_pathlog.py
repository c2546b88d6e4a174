import numpy as np
import pytest
from path_log_bytes import MS, RATE, THREE, own

from eyelevel.analysis.pathlog import (
    ARRIVAL,
    LOST,
    READ,
    SERVED,
    UNUSED,
    capacity_bytes,
    read_log,
    series_of,
    summarise,
)
from eyelevel.base.errors import PathLogError

MAHIMAHI = b"""\
# mahimahi mm-link (downlink) [5mbps.trace] > d.log
# base timestamp: 1000
# mahimahi config: mm-link
1000 # 1504
1001 + 1504
1001 + 1504
1002 # 1504
1002 - 1504 1
1004 # 1504
1004 - 1504 3
1005 d 2 3008
"""


def test_a_log_of_ours_in_numbers():
    found = summarise(read_log(own(THREE), "down.log"))
    assert (found.packets, found.departed_packets, found.dropped) == (3, 2, {"queue-full": 1})
    assert found.duration_s == pytest.approx(0.002)
    assert found.throughput_bit_s == pytest.approx(12e6)
    assert found.capacity_bit_s == pytest.approx(12e6)
    assert found.utilisation == pytest.approx(1.0)
    assert found.queue_delay_ms_max == 2 and found.queue_delay_ms_mean == pytest.approx(1.5)
    assert found.lateness_us_max == 40


def test_reads_say_how_long_packets_waited_and_which_had_no_stamp():
    reads = [(0, 0, 30_000, 2, READ, 1, 0), (0, 2, 0, 1, READ, 0, 0)]
    found = summarise(read_log(own([*reads, *THREE]), "down.log"))
    assert (found.waited_us_max, found.waited_us_p50, found.unstamped_reads) == (30, 30, 1)
    assert found.packets == 3
    assert summarise(read_log(own(THREE), "down.log")).waited_us_max is None


def test_a_record_half_written_is_left_out_and_missing_ones_are_counted():
    log = read_log(own([*THREE, (0, 0, 7, 0, LOST, 0, 0)]) + b"\0" * 31, "down.log")
    assert log.lost_records == 7 and len(log.arrived_s) == 3


def test_a_direction_without_a_link_has_no_capacity():
    stages = [{"stage": "delay", "delay_ms": 1.0}]
    log = read_log(own([r for r in THREE if r[4] != SERVED], stages), "down.log")
    found = summarise(log)
    assert found.capacity_bit_s is None and found.utilisation is None
    assert found.queue_delay_ms_p50 is None and found.departed_packets == 2


def test_a_traces_capacity_is_what_was_used_and_what_was_not():
    records = [
        (0, 0, 0, 1500, ARRIVAL, 0, 0),
        (1 * MS, 0, 1 * MS, 1500, SERVED, 0, 0),
        (9 * MS, 1, 0, 500, ARRIVAL, 0, 0),
        (5 * MS, 0, 0, 1500, UNUSED, 0, 0),
        (10 * MS, 1, 1 * MS, 500, SERVED, 0, 0),
        (10 * MS, 0, 0, 1000, UNUSED, 0, 0),
    ]
    found = summarise(read_log(own(records, [{"stage": "trace", "trace": "x"}]), "down.log"))
    assert found.utilisation == pytest.approx(2000 / 4500)


def test_of_two_links_the_one_where_packets_stand_longer_counts():
    stages = [{"stage": "rate", "rate_bit_s": 10**9}, *RATE]
    records = [
        (0, 0, 0, 1500, ARRIVAL, 0, 0),
        (12_000, 0, 12_000, 1500, SERVED, 0, 0),
        (1_012_000, 0, 1 * MS, 1500, SERVED, 0, 1),
    ]
    log = read_log(own(records, stages), "down.log")
    assert log.delay_ms.tolist() == [1.0]
    assert log.capacity.bit_s.tolist() == [12e6]


def test_a_schedule_repeats_its_rates():
    steps = [{"at_ms": 0, "rate_bit_s": 8000}, {"at_ms": 1000, "rate_bit_s": 0}]
    stages = [{"stage": "schedule", "steps": steps, "period_ms": 2000}]
    records = [(0, 0, 0, 100, ARRIVAL, 0, 0), (5_000 * MS, 0, 1, 100, SERVED, 0, 0)]
    log = read_log(own(records, stages), "down.log")
    at_s = np.array([0.0, 0.5, 1.0, 2.0, 2.5, 5.0])
    assert capacity_bytes(log.capacity, at_s).tolist() == [0, 500, 1000, 1000, 1500, 3000]


def test_a_log_of_mahimahi_in_numbers():
    log = read_log(MAHIMAHI, "d.log")
    found = summarise(log)
    assert log.name == "downlink" and log.arrived_s.tolist() == [0.001, 0.001]
    assert (found.packets, found.departed_packets, found.dropped) == (2, 2, {"queue": 2})
    # Between the first arrival and the last departure two opportunities passed, both used.
    assert found.utilisation == pytest.approx(1.0)
    assert found.queue_delay_ms_mean == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "f: the file is empty"),
        (b"# only a head\n", "f: it holds no event"),
        (b"1 + 1500\n2 ? 3\n", "f:2: `2 ? 3` is not an event"),
        (b"1 + x\n", "f:1: `x` is not a whole number"),
        (b"1 - 1500\n", "f:1: `1 - 1500` is not an event"),
        (b"\xff\xfe\x00", "f:1: "),
        (b"{}\n", "f:1: the head is not JSON with a format"),
        (own(THREE, version=3), "f:1: the log is of eyelevel-path-log 3"),
        (own(THREE, [{"stage": "rate"}]), "f:1: the head has no valid stage 1"),
        (own(THREE, start_ns="now"), "f:1: the head has no valid `start_ns`"),
        (own([(0, 0, 0, 0, 12, 0, 0)]), "f: record 1 is of an unknown kind"),
        (own([(40 * 24 * 3_600_000 * MS, 0, 0, 0, ARRIVAL, 0, 0)]), "f: record 1 is out of time"),
        (b"1 + 1500\n9999999999999 + 1500\n", "f: an event 9999999999998 ms after the start"),
        (b"1 + " + b"9" * 5000, "f:1: `9999"),
    ],
)
def test_what_is_no_log_is_named_with_its_place(content, expected):
    with pytest.raises(PathLogError) as caught:
        read_log(content, "f")
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)


def test_a_series_adds_up_to_the_log():
    rng = np.random.default_rng(3)
    records, at = [], 0
    for packet in range(500):
        at += int(rng.integers(0, 30 * MS))
        size = int(rng.integers(40, 1500))
        records.append((at, packet, 0, size, ARRIVAL, 0, 0))
        records.append((at + MS, packet, int(rng.integers(1, MS)), size, SERVED, 0, 0))
    log = read_log(own(records), "down.log")
    series = series_of(log)
    carried = series.departed_mbit_s.sum() * series.width_s * 1e6 / 8
    assert carried == pytest.approx(log.departed_bytes.sum())
    assert np.nanmax(series.delay_ms_max) == pytest.approx(log.delay_ms.max())
    assert len(series.at_s) <= 201
