"""One load with the real browser from a server on the loopback."""

import json
import threading
from dataclasses import replace

import pytest
from needed_browser import needs
from pages import BODIES, IMAGES, NOT_GZIP, Handler, Server, browser_traces, decoded
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.metrics.catalogue import compute_metrics
from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

HTTP1 = STACKS_BY_NAME["http1"]

try:
    find_executable()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.fixture(scope="module")
def whole(origin: str) -> RawLoad:
    return load_page(LoadSettings(origin + "/", HTTP1))


def test_every_object_is_there_once(whole: RawLoad, origin: str):
    assert whole.ended == "complete", whole.detail
    urls = [item.url for item in whole.objects if item.source == "network"]
    names = ["/", "/style.css", "/missing.js", *(f"/{number}.png" for number in range(IMAGES))]
    assert sorted(urls) == sorted(origin + name for name in names)


def test_objects_say_what_they_were(whole: RawLoad, origin: str):
    by_name = {item.url.removeprefix(origin): item for item in whole.objects}
    for name, (_, body) in BODIES.items():
        if name in by_name:
            loaded = by_name[name]
            assert loaded.protocol == "http/1.1"
            assert loaded.status == 200
            assert len(body) < loaded.encoded_bytes < len(body) + 400, "the head counts too"
            assert loaded.failed is None
            assert 0 <= loaded.started_ms <= loaded.sent_ms <= loaded.response_ms
            assert loaded.response_ms <= loaded.finished_ms
            message = loaded.message
            assert "user-agent" in {name.lower() for name, _ in message.request_fields}
            assert "content-type" in {name.lower() for name, _ in message.response_fields}
            assert message.content_bytes == len(body)
            assert message.response_head_bytes == loaded.encoded_bytes - len(body)
    assert by_name["/"].resource_type == "Document"
    assert by_name["/style.css"].render_blocking == "Blocking"
    assert by_name["/missing.js"].status == 404
    assert any("404" in text for text in whole.console_errors)


def test_the_clocks_of_page_and_network_are_one(whole: RawLoad, origin: str):
    document = next(item for item in whole.objects if item.url == origin + "/")
    # One is the page's responseStart, the other DevTools' monotonic clock less NavigationStart.
    assert document.response_ms == pytest.approx(whole.navigation.time_to_first_byte_ms, abs=1.0)
    load_ms = whole.navigation.page_load_time_ms
    assert max(item.finished_ms for item in whole.objects) <= load_ms + 50
    assert 0 < whole.navigation.time_to_first_byte_ms < load_ms
    assert whole.navigation.first_contentful_paint_ms > 0
    assert 0 < whole.navigation.dom_content_loaded_ms <= load_ms


def test_frames_begin_white_and_end_whole(whole: RawLoad):
    frames = decoded(whole)
    assert frames[0][0] == 0
    assert (frames[0][1] == 255).all()
    assert frames[0][1].shape == (360, 640, 3)
    assert tuple(frames[-1][1][350, 600]) == (230, 230, 255)
    assert whole.final_picture_matches is True
    assert whole.frames_lost == 0
    times = [at_ms for at_ms, _ in frames]
    assert times == sorted(times)


def test_the_first_visual_change_lies_between_style_and_paint(whole: RawLoad):
    metrics = compute_metrics(
        decoded(whole), {**whole.as_record(), "connections": [], "requests": []}
    )
    style = next(item for item in whole.objects if item.url.endswith("/style.css"))
    # Nothing is painted before the style sheet. A frame's time is its planned display, the first
    # paint's its presentation, which a busy machine delays: never more than two frames earlier.
    assert style.finished_ms <= metrics["first_visual_change_ms"]
    assert metrics["first_visual_change_ms"] <= whole.navigation.first_paint_ms + 40
    assert metrics["speed_index_ms"] <= metrics["last_visual_change_ms"]


def test_a_frame_is_timed_when_the_page_painted_it(origin: str):
    raw = load_page(LoadSettings(origin + "/clock", HTTP1))
    changed_ms, presented_ms = json.loads(raw.console_errors[0])
    shown = [at for at, picture in decoded(raw) if tuple(picture[150, 150]) == (0, 128, 0)]
    # Not before the script ran; planned, and so timed, for no more than two frames behind the time
    # at which the page itself was told that it was shown, however long the machine took.
    assert changed_ms <= shown[0] <= presented_ms + 40
    assert raw.navigation.page_load_time_ms < changed_ms


def test_a_redirect_by_script_counts_from_the_first_navigation(origin: str):
    raw = load_page(LoadSettings(origin + "/redirect-by-script", HTTP1))
    assert raw.navigation.documents == 2
    second = next(item for item in raw.objects if item.url.endswith("/clock"))
    assert raw.navigation.time_to_first_byte_ms == pytest.approx(second.response_ms, abs=1.0)
    assert raw.objects[0].url.endswith("/redirect-by-script")
    assert raw.objects[0].started_ms < second.started_ms


def test_a_blinking_cursor_keeps_no_page_busy(origin: str):
    raw = load_page(LoadSettings(url=f"{origin}/focused", quiet_s=1.2, cap_s=6.0))
    assert raw.ended == "complete" and not raw.capped
    pictures = [frame.image for frame in raw.frames]
    assert len(set(pictures)) == len(pictures), "what blinks shows each picture again"


def test_each_hop_of_a_redirect_is_an_object(origin: str):
    raw = load_page(LoadSettings(origin + "/redirect", HTTP1, Browser(capture=False)))
    assert [item.status for item in raw.objects[:2]] == [302, 200]
    assert raw.objects[0].finished_ms <= raw.objects[1].sent_ms
    assert raw.frames == ()


def test_trace_screenshots_show_the_same_page(origin: str):
    raw = load_page(LoadSettings(origin + "/", HTTP1, method="trace"))
    assert raw.ended == "complete"
    assert len(raw.frames) >= 2
    frames = decoded(raw)
    assert (frames[0][1] >= 250).all()
    # The whole page is shown once its last picture has come, and before anybody saw the load end.
    pictures = [item for item in raw.objects if item.url.endswith(".png")]
    ended_ms = sum(raw.wall_ms[phase] for phase in ("load", "quiet", "collect"))
    assert max(item.finished_ms for item in pictures) <= frames[-1][0] <= ended_ms


def test_a_refused_connection_is_a_failed_navigation():
    with Server(("127.0.0.1", 0), Handler) as server:
        port = server.server_port
    raw = load_page(LoadSettings(f"http://127.0.0.1:{port}/", HTTP1))
    assert raw.ended == "navigation-failed"
    assert "ERR_CONNECTION_REFUSED" in raw.detail
    assert raw.objects[0].failed == "net::ERR_CONNECTION_REFUSED"


@pytest.mark.parametrize(
    ("browser", "path", "error"),
    [
        *(("chromium", path, "net::ERR_CONTENT_DECODING_FAILED") for path in NOT_GZIP),
        ("firefox", "/broken-gzip", "contentEncodingError"),
    ],
)
def test_a_page_that_cannot_be_decoded_ends_its_load(
    origin: str, browser: str, path: str, error: str
):
    settings = replace(needs(browser), timeout_s=TEST_TIMEOUT_S)
    raw = load_page(LoadSettings(origin + path, HTTP1, settings))
    assert (raw.ended, raw.detail.split(": ")[-1]) == ("navigation-failed", error)


def test_a_page_that_never_answers_times_out(origin: str):
    raw = load_page(LoadSettings(origin + "/endless", HTTP1, Browser(timeout_s=3.0)))
    assert raw.ended == "timeout"
    assert raw.navigation.page_load_time_ms is None
    assert raw.objects[0].finished_ms is None


def test_a_crashing_page_is_an_outcome(origin: str):
    raw = load_page(LoadSettings(origin + "/crashing", HTTP1, Browser(timeout_s=20.0)))
    assert raw.ended == "browser-crashed"
    assert "renderer process crashed" in raw.detail
    assert raw.objects[0].status == 200, "what was seen before is kept"


def test_a_dying_browser_is_an_outcome(origin: str):
    raw = load_page(LoadSettings(origin + "/kill-browser", HTTP1, Browser(timeout_s=20.0)))
    assert raw.ended == "browser-crashed"
    assert "signal 9" in raw.detail
    assert browser_traces() == (set(), set())


def test_nothing_is_left_behind(origin: str):
    load_page(LoadSettings(origin + "/", HTTP1))
    assert browser_traces() == (set(), set())


def test_nothing_is_left_behind_when_the_command_is_missing(origin: str):
    settings = LoadSettings(origin + "/", HTTP1, command_prefix=("/nowhere/enter",))
    with pytest.raises(BrowserStartError, match="/nowhere/enter"):
        load_page(settings)
    assert browser_traces() == (set(), set())


def test_nothing_is_left_behind_by_a_browser_that_ends_at_once(origin: str):
    # `sh -c true` stands in for a browser that exits without a word.
    settings = LoadSettings(origin + "/", HTTP1, command_prefix=("sh", "-c", "exit 7", "--"))
    # Noticed by the closed pipe, not by the deadline.
    with pytest.raises(BrowserStartError, match=r"closed its debugging pipe.*exit status 7"):
        load_page(settings)
    assert browser_traces() == (set(), set())


def test_two_loads_at_once_do_not_disturb_each_other(origin: str):
    results: list[RawLoad] = []

    def load() -> None:
        results.append(load_page(LoadSettings(origin + "/", HTTP1)))

    threads = [threading.Thread(target=load) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [raw.ended for raw in results] == ["complete", "complete"]
    assert browser_traces() == (set(), set())
