"""Pages that lie about their timings, or never behave: a right number or an outcome, in both
browsers."""

import shutil
from typing import get_args

import hostile_pages
import pytest

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import find_browser, load_page
from eyelevel.browser.cross_check import TOLERANCE_MS
from eyelevel.browser.observations import LoadEnd, LoadSettings, RawLoad
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

HTTP1 = STACKS_BY_NAME["http1"]
BROWSERS = ("chromium", pytest.param("firefox", marks=pytest.mark.full))


def load(origin: str, browser: str, page: str, **more: float) -> RawLoad:
    assert page in hostile_pages.HOSTILE
    settings = Browser(browser=browser, capture=False, timeout_s=more.pop("timeout_s", 20.0))
    try:
        find_browser(settings)
    except BrowserStartError as error:
        pytest.skip(str(error))
    if browser == "firefox" and shutil.which("certutil") is None:
        pytest.skip("not installed: certutil")
    return load_page(LoadSettings(f"{origin}/hostile/{page}", HTTP1, settings, **more))


@pytest.mark.parametrize("browser", BROWSERS)
def test_what_a_page_forges_is_not_what_is_measured(origin: str, browser: str):
    honest, forging = (load(origin, browser, page) for page in ("honest", "forging"))
    assert any("own world: 1" in text for text in forging.console_errors), "it did forge"
    for raw in (honest, forging):
        assert (raw.ended, raw.timings_refused) == ("complete", ""), raw
        differences = raw.timing_differences_ms
        assert {"page_load_time_ms", "time_to_first_byte_ms"} <= set(differences)
        assert all(difference <= TOLERANCE_MS for difference in differences.values())
        # The browser's network events, which no page reaches, say the same.
        document, picture = (item for item in raw.objects if item.source == "network")
        navigation = raw.navigation
        assert navigation.time_to_first_byte_ms == pytest.approx(document.response_ms, abs=5)
        assert navigation.page_load_time_ms > picture.response_ms
        assert navigation.largest_contentful_paint_element == "img"
        assert navigation.largest_contentful_paint_ms >= picture.response_ms
    told = [
        {name for name, value in raw.navigation.as_record().items() if value is not None}
        for raw in (honest, forging)
    ]
    assert told[0] == told[1], "what is known of one is known of the other"


@pytest.mark.parametrize("browser", BROWSERS)
def test_a_forms_fields_hide_nothing(origin: str, browser: str):
    raw = load(origin, browser, "form")
    assert raw.timings_refused == ""
    assert raw.navigation.largest_contentful_paint_element == "form#big"


@pytest.mark.parametrize("browser", BROWSERS)
def test_windows_of_a_page_are_no_part_of_its_load(origin: str, browser: str):
    raw = load(origin, browser, "windows")
    assert (raw.ended, raw.timings_refused) == ("complete", "")
    assert not [item.url for item in raw.objects if "/next" in item.url]
    assert raw.navigation.documents == 1


@pytest.mark.parametrize("browser", BROWSERS)
def test_a_document_that_is_written_anew_loads_twice(origin: str, browser: str):
    raw = load(origin, browser, "written-anew")
    assert raw.ended == "complete"
    assert raw.timings_refused == "" and raw.navigation.page_load_time_ms > 0


@pytest.mark.parametrize("browser", BROWSERS)
@pytest.mark.parametrize("page", ["leaving", "leaving-at-once", "leaving-for-a-blob"])
def test_a_document_that_no_server_gave_has_no_times(origin: str, browser: str, page: str):
    raw = load(origin, browser, page)
    assert raw.ended == "complete" and raw.navigation.documents >= 1
    assert raw.ended_on.startswith(("about:blank", "blob:"))
    assert raw.navigation.page_load_time_ms is None
    assert raw.navigation.first_contentful_paint_ms is None


@pytest.mark.parametrize("browser", BROWSERS)
def test_a_page_that_reloads_itself_is_measured_by_its_newest_document(origin: str, browser: str):
    raw = load(origin, browser, "reloading-once")
    assert (raw.ended, raw.ended_on, raw.timings_refused) == ("complete", "", "")
    first, second = (item for item in raw.objects if item.url.endswith("/reloading-once"))
    assert raw.navigation.documents == 2
    # Time zero is the first document's; what it waited until it reloaded is in the times.
    assert first.started_ms == pytest.approx(0, abs=5) and second.started_ms >= 300
    assert raw.navigation.time_to_first_byte_ms >= second.started_ms
    assert raw.navigation.page_load_time_ms > raw.navigation.time_to_first_byte_ms


@pytest.mark.parametrize("browser", BROWSERS)
def test_dialogs_and_downloads_hold_nothing_up(origin: str, browser: str):
    for page in ("dialogs", "downloads"):
        raw = load(origin, browser, page)
        assert (raw.ended, raw.timings_refused) == ("complete", ""), (page, raw.detail)
        assert raw.navigation.page_load_time_ms is not None


@pytest.mark.parametrize("browser", BROWSERS)
def test_a_page_that_never_ends_is_an_outcome(origin: str, browser: str):
    raw = load(origin, browser, "reloading", timeout_s=3.0)
    assert raw.ended == "timeout" and raw.navigation.page_load_time_ms is None
    raw = load(origin, browser, "asking", cap_s=2.0)
    assert raw.ended in get_args(LoadEnd)
    assert raw.capped or raw.ended == "browser-crashed"


def test_a_flood_of_messages_is_dropped_and_counted(origin: str):
    raw = load(origin, "chromium", "console")
    assert (raw.ended, raw.timings_refused) == ("complete", ""), raw.detail
    assert len(raw.console_errors) <= 100 and raw.console_dropped > 10_000
    assert all(len(text) <= 1000 and text.encode() for text in raw.console_errors)


def test_a_blocked_page_has_no_numbers(origin: str):
    raw = load(origin, "chromium", "blocking")
    assert raw.ended == "browser-crashed" and "got no answer in time" in raw.detail
    assert raw.navigation.page_load_time_ms is None


def test_more_shifts_than_the_browser_keeps_are_unknown(origin: str):
    raw = load(origin, "chromium", "shifting", quiet_s=6.0)
    assert raw.ended == "complete"
    assert raw.navigation.cumulative_layout_shift is None
    assert raw.navigation.page_load_time_ms is not None
