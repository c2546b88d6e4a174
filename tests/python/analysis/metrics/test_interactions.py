"""Interaction to Next Paint from the steps of a record, by web-vitals' rule."""

import pytest

from eyelevel.analysis.metrics.browser import interaction_to_next_paint
from eyelevel.base.errors import PageAnswerError
from eyelevel.browser.interactions import interactions_from


def step(*durations_ms: float, unreported: int = 0) -> dict[str, object]:
    return {
        "interactions": [{"duration_ms": each} for each in durations_ms],
        "interaction_count": len(durations_ms) + unreported,
    }


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ([], None),
        ([{}], None),
        ([step(104.0)], 104),
        ([step(16.0), {}, step(120.0), step(24.0)], 120),
        # Up to 49 the longest counts; one of 50 is an outlier, and so the unreported ones count.
        ([step(96.0, 200.0, 40.0, unreported=46)], 200),
        ([step(96.0, 200.0, 40.0, unreported=47)], 96),
        ([step(96.0, 200.0, 40.0, unreported=97)], 40),
        ([step(200.0, unreported=200)], 200),
    ],
)
def test_the_longest_counts_less_one_of_fifty(steps: list[object], found: float | None) -> None:
    assert interaction_to_next_paint({"after_load": steps}) == found


def test_a_load_without_steps_has_none() -> None:
    assert interaction_to_next_paint({}) is None


def test_an_interaction_is_read_in_its_parts_on_the_loads_clock() -> None:
    answer = {"count": 3, "interactions": [["click", 100.0, 112.5, 212.5, 120]]}
    (found,), count = interactions_from(answer, 1000.0)
    assert count == 3
    assert found.as_record() == {
        "event": "click",
        "at_ms": 1100.0,
        "input_delay_ms": 12.5,
        "processing_ms": 100.0,
        "duration_ms": 120.0,
    }


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"count": -1, "interactions": []},
        {"count": 1, "interactions": [["click", 1.0, 1.0, 1.0]]},
        {"count": 1, "interactions": [["x" * 41, 1.0, 1.0, 1.0, 8.0]]},
        {"count": 1, "interactions": [["click", 1.0, 1.0, 1.0, float("inf")]]},
    ],
)
def test_what_no_script_of_ours_returns_is_refused(answer: object) -> None:
    with pytest.raises(PageAnswerError, match="the page's interactions cannot be read"):
        interactions_from(answer, 0.0)
