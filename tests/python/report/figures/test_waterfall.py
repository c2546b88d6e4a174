"""Waterfalls: which phases a request had, and which requests are on the critical path."""

import pytest
from sample_record import sample_navigation, sample_object, sample_record

from eyelevel.report.figures.waterfall import waterfall_of

TIMES = {
    "started_ms": 0.0,
    "lookup_ms": [5.0, 8.0],
    "connect_ms": [8.0, 40.0],
    "tls_ms": [20.0, 40.0],
    "sending_ms": 41.0,
    "sent_ms": 42.0,
    "response_ms": 70.0,
    "finished_ms": 90.0,
}
REUSED = dict.fromkeys(("lookup_ms", "connect_ms", "tls_ms"))


def load(*objects, **navigation):
    record = sample_record()
    record["navigation"] = sample_navigation(500.0, **navigation)
    record["objects"] = list(objects)
    return record


def test_a_request_on_a_new_connection_has_every_phase():
    (bar,) = waterfall_of(load(sample_object(**TIMES)), 9).bars
    assert bar.phases == {
        "queued": (0.0, 5.0),
        "dns": (5.0, 8.0),
        "connect": (8.0, 20.0),
        "tls": (20.0, 40.0),
        "wait": (41.0, 70.0),
        "receive": (70.0, 90.0),
    }


def test_quic_connects_and_agrees_on_keys_at_once():
    one = TIMES | {"connect_ms": [8.0, 40.0], "tls_ms": [8.0, 40.0]}
    (bar,) = waterfall_of(load(sample_object(**one)), 9).bars
    assert "connect" not in bar.phases and bar.phases["tls"] == (8.0, 40.0)


def test_on_a_connection_that_is_there_a_request_only_waits_and_receives():
    (bar,) = waterfall_of(load(sample_object(**(TIMES | REUSED))), 9).bars
    assert list(bar.phases) == ["queued", "wait", "receive"] and bar.phases["queued"] == (0.0, 41.0)


def test_cached_and_unfinished_objects_have_no_bar_and_later_ones_are_counted():
    objects = [sample_object(**(TIMES | REUSED | {"started_ms": float(n)})) for n in (3, 1, 2)]
    objects += [sample_object(**(TIMES | {"finished_ms": None})), sample_object(**TIMES)]
    objects[-1]["from"] = "cache"
    found = waterfall_of(load(*objects), 2)
    assert [bar.started_ms for bar in found.bars] == [1.0, 2.0] and found.left_out == 1


@pytest.mark.parametrize("paint_ms", [400.0, None])
def test_the_lines_are_the_moments_that_happened(paint_ms):
    found = waterfall_of(load(sample_object(**TIMES), largest_contentful_paint_ms=paint_ms), 9)
    assert found.lines.get("LCP") == paint_ms and found.lines["load"] == 500.0


def test_the_largest_paints_resource_is_on_the_critical_path():
    url = "https://example.example/hero.jpg"
    page = sample_object(**(TIMES | {"resource_type": "Document"}))
    hero = TIMES | REUSED | {"started_ms": 75.0, "sending_ms": 76.0, "response_ms": 100.0}
    picture = sample_object(url=url, resource_type="Image", **(hero | {"finished_ms": 200.0}))
    other = sample_object(resource_type="Image", **(hero | {"finished_ms": 300.0}))
    found = waterfall_of(load(page, picture, other, largest_contentful_paint_url=url), 9)
    assert [bar.is_critical for bar in found.bars] == [True, True, False]
    assert found.bars[1].name == "hero.jpg"


def test_objects_are_counted_by_protocol():
    objects = [sample_object(**(TIMES | {"protocol": name})) for name in ("h2", "h3", "h3", None)]
    found = waterfall_of(load(*objects), 9)
    assert found.protocols == {"h2": 1, "h3": 2}
    assert [bar.as_json()["protocol"] for bar in found.bars] == ["h2", "h3", "h3", None]
