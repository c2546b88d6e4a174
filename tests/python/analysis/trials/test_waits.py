"""What a load waited for while its picture came: pages told by hand."""

import pytest

from eyelevel.analysis.metrics.visual import missing_area
from eyelevel.analysis.trials.waits import (
    PART_OF,
    PART_WAITS,
    SPEED_WAITS,
    WAITS_COLUMNS,
    find_sources,
    waits_of,
)


def loaded(url, kind, started_ms, connect_ms, sending_ms, response_ms, finished_ms, **more):
    return {
        "url": url, "resource_type": kind, "in_main_frame": True, "connection": url.split("/")[2],
        "started_ms": started_ms, "connect_ms": connect_ms, "sending_ms": sending_ms,
        "response_ms": response_ms, "finished_ms": finished_ms, "failed": None,
        "render_blocking": None, **more,
    }  # fmt: skip


HERO = "https://b/hero.jpg"
PAGE = [
    loaded("https://a/", "Document", 0.0, (0.0, 60.0), 60.0, 100.0, 110.0),
    loaded("https://a/x.css", "Stylesheet", 105.0, None, 105.0, 140.0, 150.0,
           render_blocking="Blocking"),
    loaded(HERO, "Image", 150.0, (150.0, 210.0), 210.0, 250.0, 400.0),
    loaded("https://b/late.jpg", "Image", 155.0, None, 210.0, 260.0, 600.0),
]  # fmt: skip
PROGRESS = ((0.0, 0.0), (170.0, 0.25), (430.0, 1.0))


def waited(progress=PROGRESS, objects=PAGE, painted_ms=168.0, speed_index_ms=None):
    record = {"navigation": {"first_paint_ms": painted_ms}, "objects": objects}
    index = missing_area(progress) if speed_index_ms is None else speed_index_ms
    return dict(zip(WAITS_COLUMNS, waits_of(record, progress, index), strict=True))


def test_each_part_of_the_picture_counts_by_its_share_and_what_it_waited_for():
    found = waited()
    # To the first paint: 60 ms for one connection, 40 + 35 for first bytes, 5 + 10 for bytes.
    # The hero waits in addition for a second connection, and for its own first byte and bytes.
    assert [found[name] for name in SPEED_WAITS[:3]] == pytest.approx(
        [0.25 * 60 + 0.75 * 120, 0.25 * 75 + 0.75 * 115, 0.25 * 15 + 0.75 * 165]
    )
    assert sum(found[name] for name in SPEED_WAITS) == pytest.approx(0.25 * 170 + 0.75 * 430)
    assert (found["first_paint_handshakes"], found["first_paint_connections_ms"]) == (1, 60.0)
    assert sum(found[name] for name in PART_WAITS) == pytest.approx(430.0)
    assert (found["largest_part_ms"], found["largest_part_share"]) == (430.0, 0.75)
    assert found[PART_OF] == HERO


def test_the_first_change_of_the_picture_is_the_first_paint_although_a_frame_says_later():
    found = waited(((0.0, 0.0), (172.0, 1.0)))
    assert found[PART_OF] == ""
    assert [found[name] for name in SPEED_WAITS[:3]] == [60.0, 75.0, 15.0]


@pytest.mark.parametrize(
    ("at_ms", "urls"),
    [
        (160.0, []),  # before the first paint
        (404.0, []),  # what came 4 ms before it cannot be on the screen
        (405.0, [HERO]),
        (550.0, [HERO]),
        (551.0, []),  # nothing came for 150 ms
        (606.0, ["https://b/late.jpg"]),
    ],
)
def test_what_came_shortly_before_a_change_may_have_brought_it(at_ms, urls):
    assert find_sources(PAGE, at_ms, 168.0) == urls


def test_pictures_come_before_fonts_and_the_last_first():
    font = loaded("https://a/f.woff2", "Font", 150.0, None, 150.0, 200.0, 420.0)
    second = loaded("https://b/2.jpg", "Image", 150.0, None, 210.0, 250.0, 410.0)
    failed = loaded("https://b/3.jpg", "Image", 150.0, None, 210.0, 250.0, 415.0) | {
        "failed": "net::ERR_ABORTED"
    }
    objects = [*PAGE, font, second, failed]
    assert find_sources(objects, 430.0, 168.0) == ["https://b/2.jpg", HERO, "https://a/f.woff2"]


@pytest.mark.parametrize(
    "changes", [{"progress": ()}, {"painted_ms": None}], ids=["no frames", "no paint"]
)
def test_a_load_without_a_picture_has_none(changes):
    assert set(waited(speed_index_ms=1.0, **changes).values()) == {None}
