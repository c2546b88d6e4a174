"""The members that HAR 1.2 (Odvarko, Jain, Davies) requires, with their types."""

from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

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
COOKIES = rows(
    obj(
        {"name": TEXT, "value": TEXT},
        {
            **dict.fromkeys(("path", "domain"), TEXT),
            "expires": MOMENT,
            "httpOnly": {"type": "boolean"},
            "secure": {"type": "boolean"},
        },
    )
)
POSTED = obj({"mimeType": TEXT, "text": TEXT, "params": PAIRS}, {"encoding": {"const": "base64"}})
CONTENT = obj(
    {"size": SIZE_OR_UNKNOWN, "mimeType": TEXT},
    {"text": TEXT, "encoding": {"const": "base64"}, "compression": WHOLE},
)
TOOL = obj({"name": TEXT, "version": TEXT})
REQUEST = obj(
    {
        "method": TEXT,
        "url": {"type": "string", "format": "uri"},
        "httpVersion": TEXT,
        "cookies": COOKIES,
        "headers": PAIRS,
        "queryString": PAIRS,
        "headersSize": SIZE_OR_UNKNOWN,
        "bodySize": SIZE_OR_UNKNOWN,
    },
    {"postData": POSTED},
)
RESPONSE = obj(
    {
        "status": WHOLE,
        "statusText": TEXT,
        "httpVersion": TEXT,
        "cookies": COOKIES,
        "headers": PAIRS,
        "content": CONTENT,
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
