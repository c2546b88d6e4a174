"""The parts of Largest Contentful Paint of real loads, beside what the page itself is told."""

import json
from typing import Any

import pytest

from eyelevel.analysis.metrics.browser import PaintParts
from eyelevel.analysis.metrics.browser import largest_contentful_paint_parts as parts
from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.observations import LoadSettings
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

pytestmark = pytest.mark.alone

HTTP1 = STACKS_BY_NAME["http1"]

try:
    find_executable()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)


def loaded(url: str) -> tuple[dict[str, Any], PaintParts, list[str]]:
    raw = load_page(LoadSettings(url, HTTP1, Browser(capture=False)))
    record = raw.as_record()
    found = parts(record)
    assert found is not None, record["navigation"]
    navigation = record["navigation"]
    whole = (
        found.time_to_first_byte_ms
        + found.resource_load_delay_ms
        + found.resource_load_duration_ms
        + found.element_render_delay_ms
    )
    assert whole == pytest.approx(navigation["largest_contentful_paint_ms"], abs=1e-6)
    assert found.time_to_first_byte_ms == navigation["time_to_first_byte_ms"]
    return navigation, found, list(raw.console_errors)


def test_the_parts_are_those_that_the_page_s_own_entries_give(origin: str) -> None:
    navigation, found, told = loaded(origin + "/largest")
    response_ms, requested_ms, ended_ms, painted_ms = json.loads(told[-1])
    assert navigation["largest_contentful_paint_url"] == origin + "/5.png"
    # DevTools and the page read one clock, the page with 0.1 ms.
    assert found.time_to_first_byte_ms == pytest.approx(response_ms, abs=0.2)
    assert found.resource_load_delay_ms == pytest.approx(requested_ms - response_ms, abs=1.0)
    assert found.resource_load_duration_ms == pytest.approx(ended_ms - requested_ms, abs=2.0)
    assert found.element_render_delay_ms == pytest.approx(painted_ms - ended_ms, abs=2.0)
    assert found.resource_load_duration_ms > 0 and found.element_render_delay_ms > 0
    assert ended_ms <= navigation["largest_contentful_paint_loaded_ms"] <= painted_ms


def test_a_picture_that_moved_is_loading_over_all_its_hops(origin: str) -> None:
    navigation, found, told = loaded(origin + "/largest-moved")
    response_ms, _, ended_ms, painted_ms = json.loads(told[-1])
    assert navigation["largest_contentful_paint_url"] == origin + "/moved/5.png"
    begun_ms = found.time_to_first_byte_ms + found.resource_load_delay_ms
    assert begun_ms + found.resource_load_duration_ms == pytest.approx(ended_ms, abs=2.0)
    assert found.element_render_delay_ms == pytest.approx(painted_ms - ended_ms, abs=2.0)
    assert found.time_to_first_byte_ms == pytest.approx(response_ms, abs=0.2)


def test_text_waits_for_no_resource(origin: str) -> None:
    navigation, found, _ = loaded(origin + "/error-page")
    assert navigation["largest_contentful_paint_element"] == "h1"
    assert navigation["largest_contentful_paint_url"] is None
    assert navigation["largest_contentful_paint_loaded_ms"] is None
    assert found.resource_load_delay_ms == found.resource_load_duration_ms == 0
    assert found.element_render_delay_ms > 0
