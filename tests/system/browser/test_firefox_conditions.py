"""What a page in the real Firefox is told of its device, and what is done after its load."""

import json
import shutil

import pytest
from pages import decoded

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.browser.observations import LoadSettings
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

pytestmark = pytest.mark.full

HTTP1 = STACKS_BY_NAME["http1"]

try:
    find_firefox()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)
if absent := [name for name in ("Xvfb", "ffmpeg") if shutil.which(name) is None]:
    pytest.skip(f"not installed: {', '.join(absent)}", allow_module_level=True)


def test_a_phone_without_two_hosts_scrolls_and_goes_on_to_the_next_page(origin: str):
    texts = (
        "script fetch('http://pictures.ads.example/x').catch(() => 0)",
        "script location = '/steps'",
        "scroll end",
        "click a",
        "click #nowhere",
    )
    raw = load_page(
        LoadSettings(
            origin + "/conditions",
            HTTP1,
            Browser(
                browser="firefox",
                color_scheme="dark",
                blocked_hosts=("blocked.example", "*.ads.example"),
                after_load=texts,
            ),
            viewport_px=(412, 823),
            picture_px=(360, 640),
            mobile=True,
            device_scale=1.75,
            quiet_s=0.4,
        )
    )
    assert raw.ended == "complete", raw.detail
    told = json.loads(next(text for text in raw.console_errors if text.startswith("{")))
    assert told["touch"] and told["dark"] and told["scale"] == pytest.approx(1.75, rel=0.01)
    assert "Android" in told["agent"] and "Mobile" in told["agent"]
    blocked = next(item for item in raw.objects if "blocked.example" in item.url)
    assert blocked.failed == "NS_ERROR_ABORT" and blocked.lookup_ms is None
    pictures = decoded(raw)
    assert pictures[-1][1].shape[0] > pictures[-1][1].shape[1]
    assert (pictures[0][1] == 255).all() and (pictures[-1][1] == 0).mean() > 0.9

    advert, opened, scroll, click, nowhere = raw.after_load
    assert [item.failed for item in advert.objects] == ["NS_ERROR_ABORT"]
    paths = [
        [each.url.removeprefix(origin) for each in step.objects if each.source == "network"]
        for step in (opened, scroll, click)
    ]
    assert paths == [["/steps"], ["/1.png"], ["/next", "/2.png"]]
    assert [step.documents for step in raw.after_load] == [0, 1, 0, 1, 0]
    assert not any(step.failed for step in (advert, opened, scroll, click))
    assert nowhere.failed == "`click #nowhere`: no element of the page matches the selector"
    # A step's time zero is its input; what came of it came later, and before its quiet second.
    assert scroll.load_event_ms is None and scroll.started_ms < scroll.frames[1].at_ms
    assert click.started_ms < click.load_event_ms < click.ended_ms - 300
    assert click.started_ms < click.first_contentful_paint_ms < click.ended_ms


def test_without_scripts_the_page_says_what_it_has_for_that(origin: str):
    settings = LoadSettings(
        origin + "/conditions", HTTP1, Browser(browser="firefox", javascript=False)
    )
    raw = load_page(settings)
    assert raw.ended == "complete", raw.detail
    assert not [text for text in raw.console_errors if text.startswith("{")]
    assert raw.navigation.page_load_time_ms is not None
    assert raw.navigation.first_contentful_paint_ms is not None  # the text in <noscript>
    assert len(raw.frames) > 1
