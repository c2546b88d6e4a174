"""A second visit with the first one's HTTP cache, as old as it is asked to be, by the command."""

from pathlib import Path
from typing import Any

import pytest
from loads import load
from pages import image
from small_site import PAGE_URL, Answer, pack_answers

from eyelevel.analysis.metrics.network import cached_object_count, revalidated_object_count

RECORDED, DATE = "2026-01-01T12:00:00Z", "Thu, 01 Jan 2026 12:00:00 GMT"
TWO_DAYS_LATER = "Sat, 03 Jan 2026 12:00:00 GMT"
TEN_DAYS_BEFORE = "Mon, 22 Dec 2025 12:00:00 GMT"
PAGE = (
    b"<!doctype html><title>cached</title><link rel=icon href=data:,>"
    b"<link rel=stylesheet href=/hour.css><h1>A heading</h1>"
    b"<img src=/never.png><img src=/expires.png><img src=/guessed.png>"
)
EXCHANGES = {
    "": ("text/html", PAGE, {"cache-control": "no-cache", "etag": '"page"'}),
    "hour.css": (
        "text/css",
        b"h1 { color: rgb(1, 2, 3) }",
        {"cache-control": "max-age=3600", "etag": '"hour"'},
    ),
    "never.png": ("image/png", image(100), {"cache-control": "no-store"}),
    # Fresh for two days, and by RFC 9111, section 4.2.2, for a tenth of ten days.
    "expires.png": (
        "image/png",
        image(110),
        {"expires": TWO_DAYS_LATER, "last-modified": TEN_DAYS_BEFORE},
    ),
    "guessed.png": ("image/png", image(120), {"last-modified": TEN_DAYS_BEFORE}),
}

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    answers = [
        Answer(path, body, [("content-type", content_type), ("date", DATE), *fields.items()])
        for path, (content_type, body, fields) in EXCHANGES.items()
    ]
    return pack_answers(tmp_path_factory.mktemp("cached"), answers, created_at=RECORDED)


def visit(site: Path, age: str, stack: str) -> tuple[dict[str, int], set[str], dict[str, Any]]:
    """Return the measured visit's statuses and cached paths, and the record."""
    options = ("--network", "dsl", "--stack", stack, "--visit", "cached", "--cache-age", age)
    trial = load(str(site), *options, "--no-capture")
    asked = {each["url"].removeprefix(PAGE_URL): each["status"] for each in trial["requests"]}
    cached = {each["url"].removeprefix(PAGE_URL) for each in trial["objects"]} - set(asked)
    sources = {each["url"].removeprefix(PAGE_URL): each["from"] for each in trial["objects"]}
    assert {path for path, source in sources.items() if source == "cache"} == cached
    return asked, cached, trial


@pytest.mark.parametrize(
    ("age", "stack", "asked"),
    [
        ("10 min", "tcp+", {"": 304, "never.png": 200}),
        ("2 h", "quic", {"": 304, "never.png": 200, "hour.css": 304}),
        (
            "3 d",
            "tcp+",
            {"": 304, "never.png": 200, "hour.css": 304, "expires.png": 304, "guessed.png": 304},
        ),
        pytest.param(
            "30 h",
            "quic",
            {"": 304, "never.png": 200, "hour.css": 304, "guessed.png": 304},
            marks=pytest.mark.full,
        ),
    ],
)
def test_what_is_fresh_at_that_age_is_not_asked_for_and_the_rest_is_revalidated(
    age: str, stack: str, asked: dict[str, int], site: Path
) -> None:
    found, cached, trial = visit(site, age, stack)
    assert found == asked
    assert cached == set(EXCHANGES) - set(asked)
    assert cached_object_count(trial) == len(cached)
    assert revalidated_object_count(trial) == list(asked.values()).count(304)
    # New connections without tickets: the age is beyond what keeps either.
    assert not any(each["in_force"]["resumed"] for each in trial["connections"])
