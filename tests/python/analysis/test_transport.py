"""Logs as their tools write them, and damaged."""

import json

import pytest

from eyelevel.analysis.connections import parse_qlog, parse_tcp_info
from eyelevel.base.errors import ConnectionLogError

HEAD = {"file_schema": "urn:ietf:params:qlog:file:sequential", "trace": {}}


def qlog(*events: dict) -> bytes:
    return b"".join(b"\x1e" + json.dumps(each).encode() + b"\n" for each in (HEAD, *events))


def metrics(time: float, **data: float) -> dict:
    return {"time": time, "name": "quic:recovery_metrics_updated", "data": data}


def lost(time: float) -> dict:
    return {"time": time, "name": "quic:packet_lost", "data": {}}


def test_metrics_that_an_event_does_not_name_stay() -> None:
    found = parse_qlog(
        qlog(
            metrics(1.0, smoothed_rtt=333, congestion_window=46_464, bytes_in_flight=0),
            metrics(2.0, bytes_in_flight=1200),
            lost(2.5),
            lost(2.5),
            metrics(3.0, smoothed_rtt=40.5, congestion_window=50_000),
        ),
        "a",
    )
    assert found.at_ms == (1.0, 2.0, 3.0)
    assert found.window_bytes == (46_464, 46_464, 50_000)
    assert found.in_flight_bytes == (0, 1200, 1200)
    # The first value is RFC 9002's guess, not a measurement.
    assert found.rtt_ms == (None, None, 40.5)
    assert found.losses == ((2.5, 2),)


def test_a_log_that_was_cut_off_ends_earlier_and_a_damaged_one_is_refused() -> None:
    whole = qlog(metrics(1.0, congestion_window=1), metrics(2.0, congestion_window=2))
    assert parse_qlog(whole[:-20], "a").at_ms == (1.0,)
    with pytest.raises(ConnectionLogError, match="record 1:1:13: damaged, not JSON"):
        parse_qlog(whole.replace(b'"time"', b'"ti', 1), "a")
    for other in (b"", b"\x1e{}\n", b"GIF89a"):
        with pytest.raises(ConnectionLogError, match="does not begin"):
            parse_qlog(other, "a")


def sample(at_ns: int, connection: int, again: int) -> bytes:
    fields = {
        "at_ns": at_ns,
        "connection": connection,
        "event": "sample",
        "segment_bytes": 1448,
        "window_packets": 10,
        "in_flight_packets": 4,
        "retransmitted_packets": again,
        "rtt_us_smoothed": 24_500,
    }
    return json.dumps(fields).encode() + b"\n"


def test_samples_of_one_connection_are_told_apart() -> None:
    content = sample(1_000_000, 0, 0) + sample(2_000_000, 1, 5) + sample(3_000_000, 0, 2)
    found = parse_tcp_info(content + sample(4_000_000, 0, 2)[:-9], 0, "a")
    assert found.at_ms == (1.0, 3.0)
    assert found.window_bytes == (14_480, 14_480)
    assert found.in_flight_bytes == (5792, 5792)
    assert found.rtt_ms == (24.5, 24.5)
    assert found.losses == ((3.0, 2),)
    with pytest.raises(ConnectionLogError, match="line 1 is no JSON"):
        parse_tcp_info(b"{\n" + content, 0, "a")
