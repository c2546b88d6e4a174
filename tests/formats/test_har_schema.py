"""Our HAR against what HAR 1.2 (Odvarko, Jain, Davies) says must be there, and of what type."""

from typing import Any

import pytest
from har_opening import OPENING
from jsonschema import Draft202012Validator, FormatChecker
from sample_record import sample_record

from eyelevel.export.har import har_of

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
MOMENT = {
    "type": "string",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$",
}
LENGTH = {"type": "number", "minimum": 0}
LENGTH_OR_UNKNOWN = {"anyOf": [LENGTH, {"const": -1}]}
SIZE_OR_UNKNOWN = {"type": "integer", "minimum": -1}


def obj(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    """An object with these keys and, beside them, only those that begin with an underscore."""
    return {
        "type": "object",
        "required": list(required),
        "properties": required | (optional or {}) | {"comment": TEXT},
        "patternProperties": {"^_": {}},
        "additionalProperties": False,
    }


def rows(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item}


PAIRS = rows(obj({"name": TEXT, "value": TEXT}))
TOOL = obj({"name": TEXT, "version": TEXT})
REQUEST = obj(
    {
        "method": TEXT,
        "url": {"type": "string", "format": "uri"},
        "httpVersion": TEXT,
        "cookies": PAIRS,
        "headers": PAIRS,
        "queryString": PAIRS,
        "headersSize": SIZE_OR_UNKNOWN,
        "bodySize": SIZE_OR_UNKNOWN,
    },
)
RESPONSE = obj(
    {
        "status": WHOLE,
        "statusText": TEXT,
        "httpVersion": TEXT,
        "cookies": PAIRS,
        "headers": PAIRS,
        "content": obj({"size": SIZE_OR_UNKNOWN, "mimeType": TEXT}, {"text": TEXT}),
        "redirectURL": TEXT,
        "headersSize": SIZE_OR_UNKNOWN,
        "bodySize": SIZE_OR_UNKNOWN,
    },
)
TIMINGS = obj(
    {"send": LENGTH, "wait": LENGTH, "receive": LENGTH},
    dict.fromkeys(("blocked", "dns", "connect", "ssl"), LENGTH_OR_UNKNOWN),
)
PAGE = obj(
    {
        "startedDateTime": MOMENT,
        "id": TEXT,
        "title": TEXT,
        "pageTimings": obj({}, dict.fromkeys(("onContentLoad", "onLoad"), LENGTH_OR_UNKNOWN)),
    }
)
ENTRY = obj(
    {
        "startedDateTime": MOMENT,
        "time": LENGTH,
        "request": REQUEST,
        "response": RESPONSE,
        "cache": {"type": "object"},
        "timings": TIMINGS,
    },
    {"pageref": TEXT, "serverIPAddress": TEXT, "connection": TEXT},
)
LOG = obj(
    {"version": {"const": "1.2"}, "creator": TOOL, "entries": rows(ENTRY)},
    {"browser": TOOL, "pages": rows(PAGE)},
)
HAR = Draft202012Validator(obj({"log": LOG}), format_checker=FormatChecker())

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
