"""Time zero, and the page's answer put on its clock."""

from dataclasses import replace

import pytest
from page_answers import answer

from eyelevel.base.errors import PageAnswerError
from eyelevel.browser.page_timings import NavigationClock, layout_shift, navigation_from


def metrics(start_s: float) -> dict:
    return {"result": {"metrics": [{"name": "NavigationStart", "value": start_s}]}}


def clock_of(*starts_s: float, asked_s: float | None = 1000.001) -> NavigationClock:
    clock = NavigationClock(navigated_s=999.9)
    if asked_s is not None:
        clock.handle_request({"timestamp": asked_s})
    for start_s in starts_s:
        clock.handle_metrics(metrics(start_s))
        clock.handle_new_document()
    return clock


def test_a_load_that_timed_out_has_no_load_time_whatever_document_loaded_since():
    navigation = navigation_from(answer(), clock_of(1000.0), {})
    assert navigation.of("timeout") == replace(navigation, page_load_time_ms=None)
    assert navigation.of("complete").page_load_time_ms == 500.0


def test_one_document():
    navigation = navigation_from(answer(), clock_of(1000.0), {"firstContentfulPaint": 1000.1187})
    assert navigation.page_load_time_ms == 500.0
    assert navigation.first_contentful_paint_ms == 118.7, "exact, not the page's rounded 120"
    assert navigation.first_paint_ms == 120, "the page's own where there is no lifecycle event"
    assert navigation.largest_contentful_paint_element == "img#hero"
    assert navigation.largest_contentful_paint_url == "https://a.example/hero.jpg"
    assert navigation.documents == 1


def test_a_second_document_counts_from_the_first_start():
    navigation = navigation_from(answer(), clock_of(1000.0, 1000.25), {"firstPaint": 1000.4})
    assert navigation.page_load_time_ms == pytest.approx(750.0)
    assert navigation.time_to_first_byte_ms == pytest.approx(330.0)
    assert navigation.first_paint_ms == pytest.approx(400.0)
    assert navigation.largest_contentful_paint_ms == pytest.approx(410.0)
    assert navigation.largest_contentful_paint_loaded_ms == pytest.approx(405.0)
    assert navigation.long_tasks_ms[0][0] == pytest.approx(450.0)
    assert navigation.timer_gaps_ms[0] == (pytest.approx(460.0), 70.0)


def test_a_missed_first_document_falls_back_to_its_request():
    # Only the second document could be asked, which began after the first's request.
    clock = clock_of(1000.25, asked_s=1000.001)
    assert clock.first_start_s == 1000.001
    assert clock.last_start_s == 1000.25


def test_no_request_at_all():
    clock = clock_of(asked_s=None)
    assert clock.first_start_s == clock.last_start_s == 999.9


def test_the_same_start_counts_once_and_zero_never():
    clock = clock_of(1000.0)
    clock.handle_metrics(metrics(1000.0))
    clock.handle_metrics(metrics(0))
    assert clock.last_start_s == 1000.0


def test_a_mark_counts_from_the_first_navigation_and_a_measure_is_a_duration():
    found = navigation_from(answer(), clock_of(1000.0, 1000.25), {})
    assert found.user_timings == {"mark:hero": 400.0, "measure:render": 40.0}
    assert found.as_record()["user_timings"] == found.user_timings


def test_what_a_full_buffer_cuts_off_is_unknown():
    whole = answer(
        shifts=[[1.0 * at, 0.1, False] for at in range(149)],
        tasks=[[100.0 * at, 60.0] for at in range(199)],
        largestCount=149,
    )
    known = navigation_from(whole, clock_of(1000.0), {})
    assert known.cumulative_layout_shift == pytest.approx(14.9)
    assert known.long_tasks_ms is not None and len(known.long_tasks_ms) == 199
    assert known.largest_contentful_paint_ms == 160
    full = answer(
        shifts=[*whole["shifts"], [200.0, 0.1, True]],
        tasks=[*whole["tasks"], [20_000.0, 60.0]],
        largestCount=150,
    )
    unknown = navigation_from(full, clock_of(1000.0), {})
    assert unknown.cumulative_layout_shift is None and unknown.long_tasks_ms is None
    assert unknown.largest_contentful_paint_ms is None
    assert unknown.largest_contentful_paint_element is None
    assert unknown.largest_contentful_paint_url is None
    assert unknown.largest_contentful_paint_loaded_ms is None
    assert unknown.page_load_time_ms == 500.0, "the rest is known"


def test_a_shift_after_input_is_the_users():
    shifts = [[100.0, 0.1, False], [120.0, 0.5, True]]
    navigation = navigation_from(answer(shifts=shifts), clock_of(1000.0), {})
    assert navigation.cumulative_layout_shift == pytest.approx(0.1)


def test_layout_shifts_sum_within_a_session():
    assert layout_shift([]) == 0.0
    assert layout_shift([[0.0, 0.1], [900.0, 0.2]]) == pytest.approx(0.3)
    assert layout_shift([[0.0, 0.1], [1000.0, 0.2]]) == pytest.approx(0.2), "a gap of a second"
    chain = [[900.0 * number, 0.1] for number in range(7)]
    assert layout_shift(chain) == pytest.approx(0.6), "a session is five seconds at most"


def test_a_time_that_cannot_be_is_refused():
    before = {"firstContentfulPaint": 999.0}
    with pytest.raises(PageAnswerError, match="first_contentful_paint_ms"):
        navigation_from(answer(), clock_of(1000.0), before)
    two = clock_of(1000.0)
    two._starts_s.append(999.95)
    with pytest.raises(PageAnswerError, match="timer_gaps_ms"):
        early = answer(timerGaps=[[10.0, 70.0]])
        navigation_from(early, two, {})


def test_documents_without_end_take_no_memory():
    clock = clock_of(1000.0)
    for number in range(5000):
        clock.handle_metrics(metrics(1001.0 + number))
    assert len(clock._starts_s) <= 101
    assert (clock.first_start_s, clock.last_start_s) == (1000.0, 6000.0)
