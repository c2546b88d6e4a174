"""Types of the WebDriver BiDi events and results that we use; field names are BiDi's."""

from typing import NotRequired  # pydantic needs this one before Python 3.12

from typing_extensions import TypedDict

from eyelevel.browser.messages import Bytes, Messages, Milliseconds, Number, Status


class _Timings(TypedDict):
    requestTime: Milliseconds
    dnsStart: NotRequired[Milliseconds]
    dnsEnd: NotRequired[Milliseconds]
    connectStart: NotRequired[Milliseconds]
    connectEnd: NotRequired[Milliseconds]
    tlsStart: NotRequired[Milliseconds]
    tlsEnd: NotRequired[Milliseconds]
    requestStart: NotRequired[Milliseconds]
    responseStart: NotRequired[Milliseconds]
    responseEnd: NotRequired[Milliseconds]


class _FieldValue(TypedDict):
    type: str
    value: str


class _Field(TypedDict):
    name: str
    value: _FieldValue


class _Content(TypedDict):
    size: NotRequired[Bytes | None]


class _Request(TypedDict):
    request: str
    url: str
    method: str
    headers: NotRequired[list[_Field]]
    destination: NotRequired[str | None]
    timings: _Timings


class _OfRequest(TypedDict):
    request: _Request
    redirectCount: Number
    navigation: NotRequired[str | None]
    context: NotRequired[str | None]


class _Failed(_OfRequest):
    errorText: str


class _Response(TypedDict):
    status: Status
    protocol: NotRequired[str | None]
    mimeType: NotRequired[str | None]
    statusText: NotRequired[str | None]
    headers: NotRequired[list[_Field]]
    headersSize: NotRequired[Bytes | None]
    bytesReceived: NotRequired[Bytes | None]
    content: NotRequired[_Content]
    fromCache: NotRequired[bool]


class _Answered(_OfRequest):
    response: _Response


class _LogEntry(TypedDict):
    level: str
    text: NotRequired[str | None]


class _At(TypedDict):
    context: str
    timestamp: Milliseconds


class _Committed(TypedDict):
    context: str
    navigation: NotRequired[str | None]
    url: str


class _Of(TypedDict):
    context: str


class _Created(TypedDict):
    context: str
    parent: NotRequired[str | None]


EVENTS = {
    "browsingContext.contextCreated": _Created,
    "browsingContext.domContentLoaded": _At,
    "browsingContext.load": _At,
    "browsingContext.navigationCommitted": _Committed,
    "browsingContext.userPromptOpened": _Of,
    "log.entryAdded": _LogEntry,
    "network.beforeRequestSent": _OfRequest,
    "network.fetchError": _Failed,
    "network.responseCompleted": _Answered,
    "network.responseStarted": _Answered,
}


class _Capabilities(TypedDict):
    browserVersion: str


class _Session(TypedDict):
    capabilities: _Capabilities


class _Tree(TypedDict):
    contexts: list[_Of]


class _Value(TypedDict):
    value: NotRequired[object]


class _ExceptionDetails(TypedDict):
    text: str


class _Evaluated(TypedDict):
    type: str
    result: NotRequired[_Value]
    exceptionDetails: NotRequired[_ExceptionDetails]


class _Node(TypedDict):
    sharedId: str


class _Nodes(TypedDict):
    nodes: list[_Node]


ANSWERS = {
    "browsingContext.create": _Of,
    "browsingContext.getTree": _Tree,
    "browsingContext.locateNodes": _Nodes,
    "script.callFunction": _Evaluated,
    "script.evaluate": _Evaluated,
    "session.new": _Session,
}

FIREFOX = Messages(EVENTS, ANSWERS)
