"""The critical path of a load: which requests decided when it was painted."""

import pytest

from eyelevel.analysis.critical_path import PathWaits, critical_path, object_waits, path_waits


def loaded(url, kind, started_ms, response_ms, finished_ms, *, blocking=None, main=True):
    return {
        "url": url,
        "resource_type": kind,
        "started_ms": started_ms,
        "response_ms": response_ms,
        "finished_ms": finished_ms,
        "render_blocking": blocking,
        "in_main_frame": main,
    }


PAGE = [
    loaded("/", "Document", 0.0, 50.0, 120.0),
    loaded("/style.css", "Stylesheet", 60.0, 90.0, 100.0, blocking="Blocking"),
    loaded("/app.js", "Script", 61.0, 95.0, 150.0, blocking="Blocking"),
    loaded("/hero.jpg", "Image", 105.0, 140.0, 300.0),
    loaded("/late.css", "Stylesheet", 155.0, 200.0, 250.0, blocking="NonBlocking"),
    loaded("/frame", "Document", 62.0, 130.0, 160.0, main=False),
]


@pytest.mark.parametrize(
    ("paint_ms", "url", "path"),
    [
        (170.0, None, ["/", "/app.js"]),  # the last that blocks, not what merely arrived later
        (140.0, None, ["/"]),  # the script was not there yet: the document's end came last
        (110.0, None, ["/", "/style.css"]),
        (310.0, "/hero.jpg", ["/", "/style.css", "/hero.jpg"]),  # found in the stylesheet
        (310.0, "/not-of-this-page.jpg", ["/", "/app.js"]),
        (40.0, None, []),
    ],
)
def test_the_path_leads_to_the_paint(paint_ms, url, path):
    assert [PAGE[place]["url"] for place in critical_path(PAGE, paint_ms, url)] == path


def test_an_object_that_never_ended_is_on_no_path():
    objects = [*PAGE, loaded("/lost.css", "Stylesheet", 60.0, None, None, blocking="Blocking")]
    assert critical_path(objects, 170.0) == critical_path(PAGE, 170.0)


def test_objects_that_stand_for_each_other_do_not_loop():
    """A redirect to itself: both begin and end in the same instant."""
    twice = [loaded("/", "Document", 0.0, 0.0, 0.0), loaded("/", "Document", 0.0, 0.0, 0.0)]
    assert len(critical_path(twice, 1.0)) == 2


def requested(url, kind, started_ms, sending_ms, response_ms, finished_ms, **changed):
    fields = {"connection": 1, "connect_ms": None, "sending_ms": sending_ms, **changed}
    blocking = "Blocking" if kind == "Stylesheet" else None
    item = loaded(url, kind, started_ms, response_ms, finished_ms, blocking=blocking)
    return {**item, **fields}


DOCUMENT = requested("/", "Document", 1.0, 32.0, 60.0, 90.0, connect_ms=[2.0, 30.0])
OPENER = requested("//b/a.png", "Image", 70.0, 112.0, 140.0, 150.0, connection=2,
                   connect_ms=[75.0, 110.0])  # fmt: skip
STYLE = requested("//b/s.css", "Stylesheet", 72.0, 113.0, 140.0, 170.0, connection=2)


def test_the_waits_of_a_path_add_up_to_the_paint():
    waits = path_waits([DOCUMENT, OPENER, STYLE], 200.0)
    # The document: 28 ms to connect, 28 to its first byte, 12 of bytes until the style was found.
    # The style: 35 ms for the connection that the image opened, 27 to its first byte, 30 of bytes.
    assert waits == PathWaits(2, 28.0 + 35.0, 28.0 + 27.0, 12.0 + 30.0, 40.0)
    assert [each.total_ms for each in object_waits([DOCUMENT, STYLE], 200.0)] == [68.0, 57.0]


def test_a_connection_that_was_open_before_its_object_costs_the_path_nothing():
    reused = requested("/s.css", "Stylesheet", 72.0, 73.0, 100.0, 110.0)
    waits = path_waits([DOCUMENT, reused], 120.0)
    assert (waits.handshakes, waits.connections_ms) == (1, 28.0)


def test_connections_without_a_number_are_told_apart_by_when_they_opened():
    """Firefox numbers none."""
    style = {**STYLE, "connect_ms": [75.0, 110.0]}
    objects = [{**item, "connection": None} for item in (DOCUMENT, style)]
    assert path_waits(objects, 200.0) == path_waits([DOCUMENT, style], 200.0)
    assert path_waits(objects, 200.0).handshakes == 2


def test_what_comes_after_the_paint_counts_for_nothing():
    assert path_waits([DOCUMENT], 50.0) == PathWaits(0, 0.0, 0.0, 0.0, 50.0)
    # The document still arrives when it is painted.
    assert path_waits([DOCUMENT], 70.0) == PathWaits(1, 28.0, 28.0, 10.0, 4.0)
    late = requested("/", "Document", 1.0, 32.0, 60.0, 95.0, connect_ms=[2.0, 30.0])
    assert path_waits([late], 95.0) == PathWaits(1, 28.0, 28.0, 35.0, 4.0)
