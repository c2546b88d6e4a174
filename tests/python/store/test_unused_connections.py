from typing import Any

from sample_record import sample_connection, sample_record

from eyelevel.store.unused_connections import UnusedConnections, count_unused_connections


def a_connection(number: int, at_ms: float = 0, **in_force: Any) -> dict[str, Any]:
    return sample_connection(number, int(at_ms * 1e6), **in_force)


def a_record(**changed: Any) -> dict[str, Any]:
    record = sample_record()
    record["connections"] = [
        a_connection(0, sent_bytes=9000, received_bytes=900),
        a_connection(1, sent_bytes=2200, received_bytes=600, failure="was not completed"),
        a_connection(2, 50, sent_bytes=2400, received_bytes=700),
        a_connection(3, sent_bytes=None, received_bytes=None, failure="was not completed"),
    ]
    record["requests"] = [{"connection": 0}, {"connection": 0}]
    return {**record, **changed}


def test_a_connection_without_a_request_is_unused_whether_or_not_it_came_about():
    assert count_unused_connections(a_record()) == UnusedConnections(
        4, 3, 2, 2200 + 600 + 2400 + 700
    )


def test_what_steps_after_the_load_opened_is_not_the_loads():
    browser = {"navigation_start_ns": 0}
    steps = a_record(after_load=[{"started_ms": 40.0}], browser=browser)
    assert count_unused_connections(steps) == UnusedConnections(3, 2, 2, 2800)


def test_on_a_warm_visit_connections_of_the_one_before_it_are_not_the_loads():
    warm = a_record(browser={"navigation_start_ns": 40e6})
    warm["trial"]["browser"] = {**warm["trial"]["browser"], "visit": "warm"}
    assert count_unused_connections(warm) == UnusedConnections(1, 1, 0, 2400 + 700)
    warm["browser"]["navigation_start_ns"] = None  # the browser did not come so far
    assert count_unused_connections(warm) == count_unused_connections(a_record())


def test_nobody_counts_for_a_server_that_is_not_ours():
    own = a_record()
    own["trial"]["stack_settings"] = {"external_server": {"command": ["x"]}}
    assert count_unused_connections(own) is None
