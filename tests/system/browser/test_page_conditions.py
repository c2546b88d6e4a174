"""What a page is told of its device, and times in which it did not run."""

import json

import pytest
from pages import STOPPED_S, decoded

from eyelevel.analysis.trials.facts import find_unexplained_gap_ms
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


def worst_gap_ms(raw: RawLoad) -> float:
    navigation = raw.navigation
    return find_unexplained_gap_ms(navigation.timer_gaps_ms, navigation.long_tasks_ms)


def test_a_page_sees_the_device_that_was_asked_for(origin: str):
    raw = load_page(
        LoadSettings(
            origin + "/conditions",
            HTTP1,
            Browser(color_scheme="dark", blocked_hosts=("blocked.example",)),
            viewport_px=(412, 823),
            mobile=True,
            device_scale=2.625,
        )
    )
    told = json.loads(next(text for text in raw.console_errors if text.startswith("{")))
    assert told["scale"] == 2.625 and told["touch"] and told["dark"]
    assert "Android" in told["agent"] and "Mobile" in told["agent"]
    blocked = next(item for item in raw.objects if "blocked.example" in item.url)
    assert blocked.failed == "blocked (inspector)"
    assert (decoded(raw)[-1][1] == 0).mean() > 0.9


@pytest.mark.parametrize(
    ("flags", "driven"),
    [((), True), (("--disable-blink-features=AutomationControlled",), False)],
)
def test_a_plans_switch_takes_effect_in_the_page(origin: str, flags: tuple[str, ...], driven: bool):
    raw = load_page(LoadSettings(origin + "/conditions", HTTP1, Browser(chromium_flags=flags)))
    reported = json.loads(next(text for text in raw.console_errors if text.startswith("{")))
    assert reported["driven"] is driven


def test_without_scripts_the_page_says_what_it_has_for_that(origin: str):
    raw = load_page(LoadSettings(origin + "/conditions", HTTP1, Browser(javascript=False)))
    assert raw.ended == "complete"
    assert not [text for text in raw.console_errors if text.startswith("{")]
    assert raw.navigation.page_load_time_ms is not None
    assert len(raw.frames) > 1  # the text in <noscript>


def test_a_renderer_that_was_not_run_is_noticed(origin: str):
    # A stop in the middle of a task looks like a long task: the page is stopped six times.
    raw = load_page(LoadSettings(origin + "/stopped", HTTP1, cap_s=15.0))
    assert raw.ended == "complete", raw.detail
    assert worst_gap_ms(raw) > 0.8 * STOPPED_S * 1e3


def test_a_busy_page_explains_its_gap(origin: str):
    raw = load_page(LoadSettings(origin + "/busy", HTTP1))
    gaps, tasks = raw.navigation.timer_gaps_ms, raw.navigation.long_tasks_ms
    explained = [length - find_unexplained_gap_ms([(at, length)], tasks) for at, length in gaps]
    # The timer could not run beside the task of 400 ms. A busy machine makes a gap longer, and adds
    # gaps of its own; the task explains its part of one all the same.
    assert max(explained) > 350, (gaps, tasks)
