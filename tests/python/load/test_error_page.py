"""A live load of an error page is none of the page, however well it ended."""

from dataclasses import replace
from typing import Any

import pytest
from judged_load import GOOD
from sample_record import sample_object

from eyelevel.load.judge import judge_live
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME

LIVE = replace(
    GOOD,
    requests=[],
    connections=[],
    path={},
    network=NETWORKS_BY_NAME["unshaped"],
    browser=Browser(),
)
FRAME = {"url": "https://ads.example/frame", "in_main_frame": False}
UNTOLD = {"in_main_frame": None}
"""Firefox does not tell frames."""
MOVED = {"url": "https://a.example/", "status": 301}


@pytest.mark.parametrize("status", [403, 404, 429, 503])
def test_a_page_that_answers_with_an_error_is_another_page(status: int) -> None:
    load = replace(LIVE, objects=[sample_object(status=status)])
    said = f"the page answered {status}: https://a.example/"
    assert judge_live(load) == ("different-page", said)


@pytest.mark.parametrize(
    "objects",
    [
        [{"url": "https://a.example/challenge", "status": 403}, {}],
        [MOVED, {"url": "https://www.a.example/", "status": 503}],
        [MOVED | UNTOLD, {"url": "https://www.a.example/", "status": 503} | UNTOLD],
        [{}, {"url": "https://a.example/limit", "status": 429}],
    ],
)
def test_an_error_on_the_way_to_the_page_is_one(objects: list[dict[str, Any]]) -> None:
    made = [sample_object(**each) for each in objects]
    assert judge_live(replace(LIVE, objects=made))[0] == "different-page"


@pytest.mark.parametrize(
    "objects",
    [
        [{}],
        [{"status": 304}],
        [{"status": None}],
        [MOVED, {"url": "https://www.a.example/"}],
        [{}, FRAME | {"status": 503}],
        [UNTOLD, FRAME | UNTOLD | {"status": 503}],
        [{}, {"resource_type": "Image", "status": 404}],
    ],
)
def test_what_may_be_missing_for_everybody_does_not_spoil_it(objects: list[dict[str, Any]]) -> None:
    made = [sample_object(**each) for each in objects]
    assert judge_live(replace(LIVE, objects=made)) == ("ok", "")
