"""The critical path of a load: which requests decided when it was painted."""

import pytest

from eyelevel.analysis.critical_path import critical_path


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
