"""Sizes of bodies as sent, and the recorded answers of a URL."""

from typing import Any

import pytest

from eyelevel.browser.observations import Message, ObjectLoad
from eyelevel.load.recorded_answers import RecordedAnswer, RecordedAnswers, SentBody, measure_bodies

TABLE = (
    "a.example\t/\ta/index.html\ttext/html\t200\t10\n"
    "a.example\t/f?v=1\ta/f-1\tfont/woff2\t200\t20\n"
    "a.example\t/f?v=2\ta/f-2\tfont/woff2\t200\t30\n"
    "a.example:8443\t/x\ta/x\t\t404\t0\n"
)


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://a.example/", [(200, 10)]),
        ("https://a.example", [(200, 10)]),
        ("https://a.example/f?v=2", [(200, 30)]),
        ("https://a.example/f?v=3", [(200, 20), (200, 30)]),
        ("https://a.example:8443/x", [(404, 0)]),
        ("https://a.example/x", []),
    ],
)
def test_another_query_may_have_any_answer_of_the_path(url: str, found: list) -> None:
    answers = RecordedAnswers.parse(TABLE)
    assert list(answers.find(url)) == [RecordedAnswer(*each) for each in found]


def make_object_load(
    fields: tuple[tuple[str, str], ...], head: int | None, **changed: Any
) -> ObjectLoad:
    values: dict[str, Any] = dict.fromkeys(ObjectLoad.__slots__)
    message = Message(response_fields=fields, response_head_bytes=head)
    values |= {"url": "https://a.example/", "source": "network", "finished_ms": 5.0}
    values |= {"encoded_bytes": 1100, "message": message}
    return ObjectLoad(**(values | changed))


@pytest.mark.parametrize(
    ("item", "size"),
    [
        (make_object_load((("Content-Length", "1000"),), 80), SentBody(1000)),
        # 1,020 bytes after the head: up to five frames' headers may be among them.
        (make_object_load((), 80), SentBody(1020, slack_bytes=45)),
        (make_object_load((), None), None),
        (make_object_load((("content-length", "1000"),), 80, source="cache"), None),
        (make_object_load((("content-length", "1000"),), 80, failed="net::ERR_ABORTED"), None),
        (make_object_load((), 80, message=None), None),
    ],
)
def test_a_size_is_the_declared_length_or_what_came_after_the_head(
    item: ObjectLoad, size: SentBody | None
) -> None:
    assert measure_bodies([item]) == [size]
