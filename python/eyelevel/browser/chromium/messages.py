"""Types of the DevTools events that we use; field names are the protocol's.

Types of the DevTools results that we use; field names are the protocol's.
"""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from eyelevel.browser.messages import Bytes, Messages, Milliseconds, Number, Offset, Seconds, Status


class _Attached(TypedDict):
    sessionId: str


class _Thrown(TypedDict):
    description: NotRequired[str]


class _ExceptionDetails(TypedDict):
    text: str
    exception: NotRequired[_Thrown]


class _Version(TypedDict):
    product: str
    userAgent: str


class _Context(TypedDict):
    browserContextId: str


class _Target(TypedDict):
    targetId: str


class _Picture(TypedDict):
    data: str


class _Metric(TypedDict):
    name: str
    value: Annotated[float, Field(allow_inf_nan=False)]


class _Metrics(TypedDict):
    metrics: list[_Metric]


class _Evaluated(TypedDict):
    result: dict[str, object]
    exceptionDetails: NotRequired[_ExceptionDetails]


class _World(TypedDict):
    executionContextId: Number


class _Part(TypedDict):
    data: str
    eof: bool
    base64Encoded: NotRequired[bool]


class _Node(TypedDict):
    nodeId: Number


class _Document(TypedDict):
    root: _Node


class _Quads(TypedDict):
    quads: list[Annotated[list[Offset], Field(min_length=8, max_length=8)]]


class _Resource(TypedDict):
    success: bool
    httpStatusCode: NotRequired[float]
    netErrorName: NotRequired[str]


class _Loaded(TypedDict):
    resource: _Resource


class _Navigation(TypedDict):
    errorText: NotRequired[str]


_ANSWERS = {
    "Browser.getVersion": _Version,
    "DOM.getContentQuads": _Quads,
    "DOM.getDocument": _Document,
    "DOM.querySelector": _Node,
    "IO.read": _Part,
    "Network.loadNetworkResource": _Loaded,
    "Page.captureScreenshot": _Picture,
    "Page.createIsolatedWorld": _World,
    "Page.navigate": _Navigation,
    "Performance.getMetrics": _Metrics,
    "Runtime.evaluate": _Evaluated,
    "Target.attachToTarget": _Attached,
    "Target.createBrowserContext": _Context,
    "Target.createTarget": _Target,
}


class _Frame(TypedDict):
    url: NotRequired[str]


class _Stack(TypedDict):
    callFrames: NotRequired[list[_Frame]]
    parent: NotRequired["_Stack"]


class _Initiator(TypedDict):
    type: NotRequired[str]
    url: NotRequired[str]
    stack: NotRequired[_Stack]


class _Timing(TypedDict):
    requestTime: Seconds
    dnsStart: NotRequired[Offset]
    dnsEnd: NotRequired[Offset]
    connectStart: NotRequired[Offset]
    connectEnd: NotRequired[Offset]
    sslStart: NotRequired[Offset]
    sslEnd: NotRequired[Offset]
    sendStart: NotRequired[Offset]
    sendEnd: NotRequired[Offset]
    receiveHeadersStart: NotRequired[Offset]


_Headers = dict[str, str]
"""Header fields by name; DevTools joins the values of one name by line feeds."""


class _Response(TypedDict):
    status: Status
    statusText: NotRequired[str]
    headers: NotRequired[_Headers]
    protocol: NotRequired[str]
    mimeType: NotRequired[str]
    connectionId: NotRequired[Bytes]
    remoteIPAddress: NotRequired[str]
    remotePort: NotRequired[Number]
    fromServiceWorker: NotRequired[bool]
    fromDiskCache: NotRequired[bool]
    fromPrefetchCache: NotRequired[bool]
    fromEarlyHints: NotRequired[bool]
    encodedDataLength: NotRequired[Bytes]
    timing: NotRequired[_Timing]


class _Request(TypedDict):
    url: str
    method: str
    headers: NotRequired[_Headers]
    postData: NotRequired[str]
    initialPriority: NotRequired[str]


class _OfRequest(TypedDict):
    requestId: str


class _RequestWillBeSent(_OfRequest):
    timestamp: Seconds
    request: _Request
    loaderId: NotRequired[str]
    redirectResponse: NotRequired[_Response]
    redirectHasExtraInfo: NotRequired[bool]
    initiator: NotRequired[_Initiator]
    frameId: NotRequired[str]
    type: NotRequired[str]
    renderBlockingBehavior: NotRequired[str]


class _ResponseReceived(_OfRequest):
    timestamp: Seconds
    response: _Response
    hasExtraInfo: NotRequired[bool]
    loaderId: NotRequired[str]
    frameId: NotRequired[str]
    type: NotRequired[str]


class _ExtraInfo(_OfRequest):
    headers: _Headers


class _DataReceived(_OfRequest):
    dataLength: NotRequired[Bytes]
    encodedDataLength: NotRequired[Bytes]


class _LoadingFinished(_OfRequest):
    timestamp: Seconds
    encodedDataLength: Bytes


class _CorsErrorStatus(TypedDict):
    corsError: NotRequired[str]


class _LoadingFailed(_OfRequest):
    timestamp: Seconds
    errorText: str
    blockedReason: NotRequired[str]
    corsErrorStatus: NotRequired[_CorsErrorStatus]


class _WebSocketCreated(_OfRequest):
    url: str


class _Handshake(_OfRequest):
    timestamp: Seconds


class _HandshakeResponse(TypedDict):
    status: Status


class _HandshakeAnswered(_Handshake):
    response: _HandshakeResponse


class _LogEntry(TypedDict):
    text: str
    level: str
    url: NotRequired[str]


class _LogEntryAdded(TypedDict):
    entry: _LogEntry


class _ConsoleArgument(TypedDict):
    value: NotRequired[str | bool | int | float | None]
    description: NotRequired[str]


class _ConsoleCalled(TypedDict):
    type: str
    args: list[_ConsoleArgument]


class _ThrownDetails(TypedDict):
    text: str
    exception: NotRequired[_Thrown]


class _ExceptionThrown(TypedDict):
    exceptionDetails: _ThrownDetails


class _FrameMetadata(TypedDict):
    monotonicTimestamp: NotRequired[Seconds]


class _ScreencastFrame(TypedDict):
    sessionId: Number
    data: str
    metadata: _FrameMetadata


class _Snapshot(TypedDict):
    snapshot: NotRequired[str]


class _TraceEvent(TypedDict):
    name: NotRequired[str]
    ts: NotRequired[Milliseconds]
    args: NotRequired[_Snapshot]


class _TraceData(TypedDict):
    value: list[_TraceEvent]


class _TraceComplete(TypedDict):
    stream: NotRequired[str]


class _TargetInfo(TypedDict):
    targetId: str
    type: str


class _TargetCreated(TypedDict):
    targetInfo: _TargetInfo


class _At(TypedDict):
    timestamp: Seconds


class _NavigatedFrame(TypedDict):
    id: str
    url: str
    parentId: NotRequired[str]


class _Navigated(TypedDict):
    frame: _NavigatedFrame


class _Lifecycle(_At):
    frameId: str
    loaderId: str
    name: str


class _TimelineEvent(TypedDict):
    frameId: str
    time: Seconds
    lcpDetails: NotRequired[dict[str, object]]


class _TimelineAdded(TypedDict):
    event: _TimelineEvent


class _Nothing(TypedDict):
    pass


EVENTS = {
    "Inspector.targetCrashed": _Nothing,
    "Log.entryAdded": _LogEntryAdded,
    "Network.dataReceived": _DataReceived,
    "Network.loadingFailed": _LoadingFailed,
    "Network.loadingFinished": _LoadingFinished,
    "Network.requestServedFromCache": _OfRequest,
    "Network.requestWillBeSent": _RequestWillBeSent,
    "Network.requestWillBeSentExtraInfo": _ExtraInfo,
    "Network.responseReceived": _ResponseReceived,
    "Network.responseReceivedEarlyHints": _ExtraInfo,
    "Network.responseReceivedExtraInfo": _ExtraInfo,
    "Network.webSocketCreated": _WebSocketCreated,
    "Network.webSocketHandshakeResponseReceived": _HandshakeAnswered,
    "Network.webSocketWillSendHandshakeRequest": _Handshake,
    "Page.frameNavigated": _Navigated,
    "Page.javascriptDialogOpening": _Nothing,
    "Page.lifecycleEvent": _Lifecycle,
    "Page.loadEventFired": _At,
    "Page.screencastFrame": _ScreencastFrame,
    "PerformanceTimeline.timelineEventAdded": _TimelineAdded,
    "Runtime.consoleAPICalled": _ConsoleCalled,
    "Runtime.exceptionThrown": _ExceptionThrown,
    "Target.attachedToTarget": _Attached,
    "Target.targetCreated": _TargetCreated,
    "Tracing.dataCollected": _TraceData,
    "Tracing.tracingComplete": _TraceComplete,
}

CHROMIUM = Messages(EVENTS, _ANSWERS)
