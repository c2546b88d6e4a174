from typing import Any

from sample_record import sample_connection

from eyelevel.analysis.trials.limits import limits_of

FIRST = {"browser": {"visit": "first"}}


def record(*in_force: dict[str, Any]) -> dict[str, Any]:
    connections = [sample_connection(**each) for each in in_force]
    return {"trial": FIRST, "connections": connections}


def test_times_add_up_and_the_most_counts() -> None:
    first = {
        "receive_window_limited_ms": 140.0,
        "send_buffer_limited_ms": 1.5,
        "unsent_bytes_max": 16_000,
    }
    second = {
        "receive_window_limited_ms": 2.0,
        "send_buffer_limited_ms": 0.0,
        "unsent_bytes_max": None,
    }
    assert limits_of(record(first, second)) == (142.0, 1.5, 16_000.0)


def test_what_nobody_tells_is_unknown() -> None:
    assert limits_of(record({})) == (None, None, None)
    assert limits_of(record()) == (None, None, None)


def test_what_connections_of_two_visits_count_is_not_one_loads() -> None:
    warm = record({"receive_window_limited_ms": 140.0, "unsent_bytes_max": 16_000})
    assert limits_of({**warm, "trial": {"browser": {"visit": "warm"}}}) == (None, None, None)
