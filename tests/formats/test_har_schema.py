"""Our HAR against what HAR 1.2 (Odvarko, Jain, Davies) says must be there, and of what type."""

import pytest
from har_opening import CONTENT_OF_PAGE, MESSAGE, OPENING
from har_schema import HAR
from sample_record import sample_record

from eyelevel.analysis.export.har import har_of

NEVER_ANSWERED = OPENING | dict.fromkeys(
    [
        "protocol", "status", "lookup_ms", "connect_ms", "tls_ms", "sending_ms", "sent_ms",
        "response_ms", "finished_ms", "mime_type", "priority", "connection", "address",
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    "objects",
    [
        [OPENING, OPENING | {"from": "cache"}],
        [OPENING | {"failed": "net::ERR_FAILED"}],
        [NEVER_ANSWERED],
        [],
    ],
)
def test_all_that_the_specification_demands_is_there(objects):
    har = har_of(sample_record() | {"objects": objects})
    assert [error.json_path + ": " + error.message for error in HAR.iter_errors(har)] == []


def test_fields_cookies_forms_and_bodies_are_there_as_the_specification_has_them():
    record = sample_record() | {"objects": [OPENING, OPENING | {"method": "POST"}]}
    record["requests"] = [{"url": OPENING["url"], "exchange": 0}] * 2
    har = har_of(record, [MESSAGE, MESSAGE | {"request_body": "a=1"}], [CONTENT_OF_PAGE])
    assert [error.json_path + ": " + error.message for error in HAR.iter_errors(har)] == []


def test_a_load_that_came_to_nothing_is_a_har_too():
    har = har_of(sample_record() | {"objects": [], "navigation": None})
    assert list(HAR.iter_errors(har)) == []


def test_the_schema_finds_what_is_missing_or_made_up():
    har = har_of(sample_record() | {"objects": [OPENING]})
    (entry,) = har["log"]["entries"]
    entry["priority"] = "own fields begin with an underscore"
    del entry["request"]["cookies"]
    entry["timings"]["wait"] = -1
    assert {error.json_path for error in HAR.iter_errors(har)} == {
        "$.log.entries[0]",
        "$.log.entries[0].request",
        "$.log.entries[0].timings.wait",
    }
