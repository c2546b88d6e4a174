"""Steps after a load: real input, each with objects, pictures and times of its own."""

import pytest
from pages import decoded

from eyelevel.analysis.metrics.browser import interaction_to_next_paint
from eyelevel.analysis.metrics.steps import step_metrics
from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.load.coding import after_load_record, find_failed_step, step_frames
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

HTTP1 = STACKS_BY_NAME["http1"]

try:
    find_executable()
except BrowserStartError as error:
    pytest.skip(str(error), allow_module_level=True)


def test_a_scroll_and_a_click_to_the_next_page_are_measured_each(origin: str):
    # The link is far above when it is clicked: coming to it is no part of the click.
    after = ("scroll end", "script 1", "click a")
    raw = load_page(LoadSettings(origin + "/steps", HTTP1, Browser(after_load=after), quiet_s=0.6))
    assert raw.ended == "complete" and not find_failed_step(raw), raw.after_load
    scroll, back, click = raw.after_load
    names = [[item.url.removeprefix(origin) for item in part.objects] for part in raw.after_load]
    assert [item.url.removeprefix(origin) for item in raw.objects] == ["/steps"]
    assert names == [["/1.png"], [], ["/next", "/2.png"]]
    assert (scroll.documents, back.documents, click.documents) == (0, 0, 1)
    # The load's own pictures end before the first step, and none of its times moved.
    assert decoded(raw)[-1][0] < scroll.started_ms
    assert raw.navigation.page_load_time_ms < scroll.started_ms
    pictures = step_frames(raw.after_load)
    records = after_load_record(raw.after_load, pictures)
    found = [
        step_metrics(record, ((f.at_ms, f.picture) for f in frames))
        for record, frames in zip(records, pictures, strict=True)
    ]
    assert found[0]["object_count"] == 1 and found[0]["received_bytes"] > 100
    assert found[0]["load_event_ms"] is None
    assert 0 < found[0]["first_visual_change_ms"] <= found[0]["duration_ms"]
    assert 0 < found[2]["load_event_ms"] <= found[2]["duration_ms"] < 5000
    assert found[2]["first_contentful_paint_ms"] <= found[2]["duration_ms"]
    assert 0 < found[2]["first_response_ms"] < found[2]["first_visual_change_ms"]
    assert tuple(list(pictures[2])[-1].picture[300, 300]) == (0, 0, 160)
    assert [step.final_picture_matches for step in raw.after_load] == [True, True, True]


def test_a_step_that_cannot_be_done_says_why_and_ends_them(origin: str):
    after = ("click #nowhere", "scroll end")
    raw = load_page(LoadSettings(origin + "/steps", HTTP1, Browser(after_load=after), quiet_s=0.3))
    assert raw.ended == "complete"
    (step,) = raw.after_load
    assert step.failed == ("`click #nowhere`: no element of the page matches the selector")
    assert find_failed_step(raw).startswith("after the load: ")


def interact(origin: str, page: str, *steps: str, capture: bool = True) -> RawLoad:
    browser = Browser(after_load=steps, capture=capture)
    raw = load_page(LoadSettings(origin + page, HTTP1, browser, quiet_s=0.6))
    assert raw.ended == "complete" and not find_failed_step(raw), raw.after_load
    return raw


def inp_ms(raw: RawLoad) -> float | None:
    steps = raw.after_load
    record = {"after_load": after_load_record(steps, step_frames(steps))}
    return interaction_to_next_paint(record)


@pytest.mark.alone
@pytest.mark.parametrize(
    ("steps", "event", "counts"),
    [
        (("click #menu",) * 4, "click", (1, 1, 1, 1)),
        (("type #search=abc", "key Enter"), "keydown", (3, 1)),
    ],
)
def test_interaction_to_next_paint_has_the_time_that_handlers_block(
    origin: str, steps: tuple[str, ...], event: str, counts: tuple[int, ...]
) -> None:
    blocks, answers = (
        interact(origin, page, *steps, capture=False) for page in ("/blocks", "/answers")
    )
    for raw in (blocks, answers):
        assert tuple(step.interaction_count for step in raw.after_load) == counts
    found = [(step, each) for step in blocks.after_load for each in step.interactions]
    assert len(found) == sum(counts)
    for step, each in found:
        assert each.event == event
        assert step.started_ms - 1 <= each.at_ms <= step.ended_ms
        assert 100 <= each.processing_ms <= each.duration_ms + 4
    durations = [each.duration_ms for _, each in found]
    quick = [each.duration_ms for step in answers.after_load for each in step.interactions]
    # The others may have met a busy moment of the machine.
    assert 100 <= min(durations) <= 120 and min(quick) <= 24
    assert (inp_ms(blocks), inp_ms(answers)) == (max(durations), max(quick))


def test_interactions_change_nothing_of_the_load_before(origin: str) -> None:
    clicked, alone = interact(origin, "/blocks", "click #menu"), interact(origin, "/blocks")
    for raw in (clicked, alone):
        assert raw.final_picture_matches
        assert raw.navigation.long_tasks_ms == ()
        assert [item.url.removeprefix(origin) for item in raw.objects] == ["/blocks"]
    (last, other) = (decoded(raw)[-1][1].tobytes() for raw in (clicked, alone))
    assert last == other
    assert alone.navigation.cumulative_layout_shift == clicked.navigation.cumulative_layout_shift
    (step,) = clicked.after_load
    # A busy machine may show the pressed button in a frame of its own.
    assert decoded(clicked)[-1][0] < step.started_ms and len(step.frames) in (2, 3)


def test_a_click_that_opens_another_page_leaves_no_interaction(origin: str) -> None:
    raw = interact(origin, "/answers", "click a", "key Tab")
    assert raw.after_load[0].documents == 1 and inp_ms(raw) is None
    assert "interactions" not in raw.after_load[1].as_record()
