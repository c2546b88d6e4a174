"""The page's answer against the browser's events."""

import pytest
from page_answers import ORIGIN_MS, answer

from eyelevel.browser.chromium.load import DocumentEvents
from eyelevel.browser.cross_check import (
    TOLERANCE_MS,
    BrowserEvents,
    differences_ms,
    disagreement,
)

AGREES = BrowserEvents(500.1, 295.0, 80.02, 118.7, 160.0)


def test_what_agrees():
    differences = differences_ms(answer(), AGREES)
    assert differences == {
        "page_load_time_ms": pytest.approx(0.1),
        "dom_content_loaded_ms": 0.0,
        "time_to_first_byte_ms": pytest.approx(0.02),
        "first_contentful_paint_ms": pytest.approx(1.3),
        "largest_contentful_paint_ms": 0.0,
    }
    assert disagreement(answer(), AGREES) == ""


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"load": 5.0, "loadStart": 5.0}, "page_load_time_ms"),
        ({"load": 900.0, "loadStart": 900.0}, "page_load_time_ms"),
        ({"domContentLoaded": 5.0, "domContentLoadedStart": 5.0}, "dom_content_loaded_ms"),
        ({"response": 0.1}, "time_to_first_byte_ms"),
        ({"firstContentfulPaint": 1.0}, "first_contentful_paint_ms"),
        ({"lcp": 1.0}, "largest_contentful_paint_ms"),
    ],
)
def test_what_disagrees_is_named(said: dict, name: str):
    assert f"in `{name}`, above {TOLERANCE_MS:g} ms" in disagreement(answer(**said), AGREES)


def test_a_difference_counts_from_the_tolerance_on():
    for past_ms, agrees in ((TOLERANCE_MS - 0.1, True), (TOLERANCE_MS + 0.1, False)):
        late = BrowserEvents(load_ms=500.0 + past_ms)
        early = BrowserEvents(load_ms=498.0 - past_ms)
        assert (disagreement(answer(), late) == "") is agrees
        assert (disagreement(answer(), early) == "") is agrees


def test_only_one_of_them_has_a_load_event():
    assert "the browser's events have none" in disagreement(answer(), BrowserEvents())
    assert "the page's own timings have none" in disagreement(answer(load=None), AGREES)
    assert "a first byte" in disagreement(answer(response=None), AGREES)
    neither = answer(load=None, response=None)
    assert disagreement(neither, BrowserEvents()) == "", "a page that never came"


FRAME = "F1"


def lifecycle(name: str, at_s: float, loader: str = "L1", frame: str = FRAME) -> tuple[str, dict]:
    parameters = {"frameId": frame, "loaderId": loader, "name": name, "timestamp": at_s}
    return "Page.lifecycleEvent", parameters


def response(loader: str = "L1", frame: str = FRAME, **more: object) -> tuple[str, dict]:
    timing = {"requestTime": 10.005, "receiveHeadersStart": 75.0}
    event = {"requestId": loader, "loaderId": loader, "frameId": frame}
    return "Network.responseReceived", {**event, "response": {"timing": timing, **more}}


def largest(at_ms: float, frame: str = FRAME) -> tuple[str, dict]:
    event = {"frameId": frame, "time": (ORIGIN_MS + at_ms) / 1e3, "lcpDetails": {}}
    return "PerformanceTimeline.timelineEventAdded", {"event": event}


def of(*events: tuple[str, dict]) -> BrowserEvents:
    document = DocumentEvents(FRAME)
    for method, parameters in events:
        document.handle_event(method, parameters)
    return document.since(10.0, answer())


def test_chromiums_events():
    seen = of(
        response(),
        lifecycle("init", 10.09),
        lifecycle("DOMContentLoaded", 10.295),
        lifecycle("load", 10.5),
        lifecycle("load", 11.5),
        lifecycle("load", 9.0, frame="another frame"),
        lifecycle("firstContentfulPaint", 10.1187),
        largest(120.0),
        largest(160.0),
        largest(300.0),
        largest(159.0, frame="another frame"),
    )
    assert seen.load_ms == pytest.approx(500.0), "the first one, of the main frame"
    assert seen.dom_content_loaded_ms == pytest.approx(295.0)
    assert seen.response_ms == pytest.approx(80.0)
    assert seen.first_contentful_paint_ms == pytest.approx(118.7)
    assert seen.largest_contentful_paint_ms == pytest.approx(160.0, abs=0.01), "the one it told"


def test_a_document_that_is_written_anew_keeps_its_first_timings():
    first = (
        lifecycle("init", 10.0),
        lifecycle("load", 10.5),
        lifecycle("firstContentfulPaint", 10.1),
    )
    seen = of(*first, lifecycle("init", 11.0), lifecycle("load", 11.5))
    assert seen.load_ms == pytest.approx(500.0)
    assert seen.first_contentful_paint_ms == pytest.approx(100.0)


def test_another_documents_events_are_not_its_own():
    seen = of(lifecycle("init", 9.0, "L0"), lifecycle("load", 9.5, "L0"), largest(160.0))
    assert seen.load_ms is not None and seen.largest_contentful_paint_ms is not None
    first = (lifecycle("init", 9.0, "L0"), lifecycle("load", 9.5, "L0"), largest(160.0))
    assert of(*first, response("L0"), lifecycle("init", 10.0)) == BrowserEvents()


@pytest.mark.parametrize("kept", ["fromServiceWorker", "fromDiskCache", "fromPrefetchCache"])
def test_a_kept_answer_has_the_times_of_another_load(kept: str):
    assert of(response(**{kept: True}), lifecycle("init", 10.09)).response_ms is None
    assert of(response(), lifecycle("init", 10.09)).response_ms is not None
    assert of(response(frame="another"), lifecycle("init", 10.09)).response_ms is None
