"""Metrics that a record holds or counts."""

from sample_record import sample_connection, sample_navigation

from eyelevel.analysis.metrics.catalogue import metrics_of

NAVIGATION = sample_navigation(
    first_contentful_paint_ms=400.0,
    dom_content_loaded_ms=380.0,
    cumulative_layout_shift=0.02,
    long_tasks_ms=[[100.0, 200.0], [380.0, 120.0], [500.0, 80.0], [700.0, 50.0]],
)


def make_object(connection, status=200, source="network", protocol="h2"):
    """An object of a thousand bytes."""
    return {
        "from": source,
        "status": status,
        "connection": connection,
        "protocol": protocol,
        "encoded_bytes": 1000,
    }


def test_blocking_time_begins_at_the_first_paint():
    found = metrics_of(
        {"navigation": NAVIGATION, "objects": [], "connections": [], "requests": []}, []
    )
    # The second task runs for 100 ms after the paint, the third for 80; 50 of each are free.
    assert found["total_blocking_time_ms"] == 50 + 30
    assert found["dom_content_loaded_ms"] == 380
    assert found["cumulative_layout_shift_score"] == 0.02
    assert found["connection_count"] is None


def test_the_network_is_counted():
    objects = [
        make_object(7),
        make_object(7, status=302),
        make_object(9, protocol="h3"),
        make_object(None, source="cache", protocol="h3"),
        make_object(None, status=None, protocol="h3"),
    ]
    connections = [sample_connection(number, tls_version="1.3") for number in range(3)]
    connections.append(sample_connection(3))
    navigation = sample_navigation()
    found = metrics_of(
        {
            "navigation": navigation,
            "objects": objects,
            "connections": connections,
            "requests": [{"status": status} for status in (200, 302, 304, 304)],
        },
        [],
    )
    assert found["object_count"] == 3
    assert found["received_bytes"] == 3000
    assert found["http3_object_count"] == 1
    assert found["http3_received_bytes"] == 1000
    assert found["cached_object_count"] == 1
    assert found["revalidated_object_count"] == 2
    assert found["connection_count"] == 2
    assert found["handshake_count"] == 3
    assert found["total_blocking_time_ms"] is None
