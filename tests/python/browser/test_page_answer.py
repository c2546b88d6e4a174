"""The page's answer is taken whole and sound, or not at all."""

import copy
import random
from typing import Any

import pytest
from mutants import mutants
from page_answers import ANSWER

from eyelevel.base.errors import PageAnswerError
from eyelevel.browser.observations import RawLoad
from eyelevel.browser.page_timings import NavigationClock, check_answer, navigation_from

MUTANTS = 600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("load", "x"),
        ("load", float("nan")),
        ("load", float("inf")),
        ("load", -1.0),
        ("load", 1e300),
        ("load", True),
        ("load", [500.0]),
        ("firstPaint", {}),
        ("shifts", None),
        ("shifts", [[100.0, 0.1]]),
        ("shifts", [[100.0, 0.1, 1]]),
        ("tasks", [[200.0]]),
        ("tasks", [200.0]),
        ("tasks", [[0.0, 60.0]] * 1001),
        ("timings", [["resource", "hero", 1.0, 0.0]]),
        ("timings", [["mark", "h" * 101, 1.0, 0.0]]),
        ("timings", [["mark", "hero", -1.0, 0.0]]),
        ("timings", [["mark", "hero", 1.0, float("inf")]]),
        ("timings", [["mark", "hero", 1.0, 0.0]] * 101),
        ("timerGaps", {"0": [1, 2]}),
        ("timerGaps", [[float("nan"), 70.0]]),
        ("lcpElement", 7),
        ("lcpElement", "i" * 501),
        ("lcpUrl", "u" * 65_537),
        ("largestCount", 1.5),
        ("timeOrigin", None),
        ("effectiveConnectionType", {"value": "4g"}),
    ],
)
def test_a_malformed_answer_is_refused_and_named(name: str, value: object):
    with pytest.raises(PageAnswerError, match=f"cannot be read: {name}"):
        check_answer({**ANSWER, name: value})


@pytest.mark.parametrize(
    "value",
    [None, "x", 3, [], [ANSWER], {}, {**ANSWER, "further": 1}, {**ANSWER, "lcpElement": "\ud800"}],
)
def test_what_is_no_answer_at_all(value: object):
    with pytest.raises(PageAnswerError):
        check_answer(value)


def test_an_answer_without_events_is_one():
    empty = dict.fromkeys(ANSWER) | {"timeOrigin": 0, "largestCount": 0}
    lists: dict[str, list[Any]] = {"shifts": [], "tasks": [], "timings": [], "timerGaps": []}
    assert check_answer(empty | lists)["load"] is None


def test_no_mutant_of_an_answer_is_a_traceback_or_no_number():
    chance, refused = random.Random(16), 0
    clock = NavigationClock(navigated_s=1000.0)
    for mutant in mutants(copy.deepcopy(ANSWER), chance, MUTANTS):
        try:
            answer = check_answer(mutant)
        except PageAnswerError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 300
            continue
        record = RawLoad("complete", "", navigation_from(answer, clock, {})).as_record()
        _only_numbers_that_can_be(record["navigation"])
    assert refused > MUTANTS / 2


def _only_numbers_that_can_be(navigation: dict[str, Any]) -> None:
    for name, value in navigation.items():
        if name.endswith("_ms") and value is not None:
            flat = (
                [part for pair in value for part in pair] if isinstance(value, tuple) else [value]
            )
            assert all(isinstance(part, float | int) and 0 <= part < 1e8 for part in flat), name
