"""The uses of hinted objects, classified from synthetic records."""

import pytest
from sample_record import sample_object, sample_request

from eyelevel.analysis.early_hints import hint_uses

STYLE = "https://a.example/style.css"


def record_of(statuses, objects):
    requests = [sample_request(), *(sample_request(url=STYLE, status=each) for each in statuses)]
    hints = {"hinted": [STYLE], "left_out": [], "received": True}
    return {
        "early_hints": hints,
        "requests": requests,
        "objects": [sample_object(), *(sample_object(url=STYLE, **each) for each in objects)],
    }


@pytest.mark.parametrize(
    ("statuses", "objects", "use"),
    [
        ([200], [{"from": "cache", "from_early_hints": True}], "used"),
        # It was still on its way when the page asked for it.
        ([200], [{"from_early_hints": True}], "used"),
        ([200, 304], [{}], "revalidated"),
        ([200, 200], [{}], "fetched twice"),
        ([200], [], "fetched in vain"),
        ([200], [{}], "not fetched early"),
        ([], [], "not fetched early"),
    ],
)
def test_servers_requests_and_the_pages_tell_what_became_of_a_hint(statuses, objects, use):
    assert hint_uses(record_of(statuses, objects)) == {STYLE: use}


def test_a_load_without_hints_has_no_uses():
    record = record_of([200], [{}])
    del record["early_hints"]
    assert hint_uses(record) == {}
