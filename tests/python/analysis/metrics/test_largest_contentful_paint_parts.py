"""Largest Contentful Paint in its four parts, by hand and in the golden loads."""

from typing import Any

import pytest
from repository import ROOT
from sample_record import sample_navigation, sample_object

from eyelevel.analysis.metrics.browser import largest_contentful_paint_parts
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.store.directory import iterate_trials

HERO = "https://a.example/hero.jpg"
PARTS = (
    "time_to_first_byte_ms",
    "lcp_resource_load_delay_ms",
    "lcp_resource_load_duration_ms",
    "lcp_element_render_delay_ms",
)


def record_of(*objects: dict[str, Any], url: str | None = HERO, **navigation: Any) -> Any:
    times = {"time_to_first_byte_ms": 100.0, "largest_contentful_paint_ms": 400.0}
    found = sample_navigation(**(times | navigation), largest_contentful_paint_url=url)
    return {
        "navigation": found,
        "objects": [sample_object(), *objects],
        "connections": [],
        "requests": [],
    }


def hero(**changed: Any) -> dict[str, Any]:
    times = {"started_ms": 150.0, "sending_ms": 180.0, "finished_ms": 350.0}
    return sample_object(**({"url": HERO} | times | changed))


def parts_of(record: Any) -> list[float | None]:
    found = metrics_of(record, [])
    return [found[name] for name in PARTS]


def test_connecting_is_delay_and_loading_begins_with_the_request() -> None:
    assert parts_of(record_of(hero())) == [100, 80, 170, 50]


@pytest.mark.parametrize("url", [None, "data:image/png;base64,AAAA"])
def test_text_and_what_the_document_holds_wait_for_no_resource(url: str | None) -> None:
    assert parts_of(record_of(hero(), url=url)) == [100, 0, 0, 300]


def test_a_picture_of_a_cache_was_asked_for_and_never_sent() -> None:
    cached = hero(sending_ms=None, finished_ms=155.0, **{"from": "cache"})
    assert parts_of(record_of(cached)) == [100, 50, 5, 245]


def test_what_came_before_the_first_byte_or_goes_on_after_the_paint_is_cut() -> None:
    assert parts_of(record_of(hero(sending_ms=60.0, finished_ms=90.0))) == [100, 0, 0, 300]
    assert parts_of(record_of(hero(finished_ms=None))) == [100, 80, 220, 0]
    assert parts_of(record_of(hero(finished_ms=402.0))) == [100, 80, 220, 0]


def test_a_redirect_is_loading_until_its_last_hop_ends() -> None:
    moved = hero(status=302, finished_ms=200.0)
    other = sample_object(url="https://b.example/x", started_ms=180.0, finished_ms=190.0)
    last = sample_object(
        url="https://b.example/hero.jpg", started_ms=200.0, sending_ms=230.0, finished_ms=320.0
    )
    assert parts_of(record_of(moved, other, last)) == [100, 80, 140, 80]
    assert parts_of(record_of(moved, other))[1:] == [None] * 3, "nobody saw where it led"
    at_once = hero(status=302, started_ms=200.0, finished_ms=200.0)
    assert parts_of(record_of(at_once))[1:] == [None] * 3, "no hop is its own next one"


def test_the_fragment_of_a_url_is_not_asked_for() -> None:
    assert parts_of(record_of(hero(), url=HERO + "#layer")) == [100, 80, 170, 50]


def test_the_first_request_that_did_not_fail_is_the_picture() -> None:
    again = hero(started_ms=360.0, sending_ms=370.0, finished_ms=380.0)
    assert parts_of(record_of(hero(failed="net::ERR_ABORTED"), again)) == [100, 270, 10, 20]
    assert parts_of(record_of(hero(), again)) == [100, 80, 170, 50]


def test_without_a_paint_or_its_picture_there_are_no_parts() -> None:
    assert largest_contentful_paint_parts(record_of()) is None
    assert parts_of(record_of(hero(), largest_contentful_paint_ms=None)) == [100, *[None] * 3]
    assert parts_of(record_of(hero(), time_to_first_byte_ms=None)) == [None] * 4


def test_the_four_add_up_in_every_golden_load() -> None:
    loads = [trial.record for trial in iterate_trials(ROOT / "vectors" / "golden" / "run")]
    assert len(loads) == 4
    for record in loads:
        first_byte, delay, duration, render = parts_of(record)
        navigation = record["navigation"]
        assert navigation["largest_contentful_paint_element"] == "img"
        whole = navigation["largest_contentful_paint_ms"]
        assert first_byte + delay + duration + render == pytest.approx(whole, abs=1e-9)
        assert min(first_byte, delay, duration, render) > 0, "a picture has all four"
        (picture,) = (o for o in record["objects"] if o["url"].endswith("/picture.png"))
        assert picture["sending_ms"] == pytest.approx(first_byte + delay)
        assert picture["finished_ms"] == pytest.approx(first_byte + delay + duration)
        # The page itself says when it had its picture: between its last byte and the paint.
        assert picture["finished_ms"] <= navigation["largest_contentful_paint_loaded_ms"] <= whole
