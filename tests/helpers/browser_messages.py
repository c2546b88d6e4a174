"""Events as Chromium 156 and Firefox 153 sent them, one of each kind that is used."""

from typing import Any

MAIN_FRAME = "93E9CB3D9730B64381AAF08DAB8549CC"
LOADER = "A4F54D09BA67D87C686222946F0EB137"
TAB = "3915fb96-5794-40a4-80f8-eaca2e05166c"
NAVIGATION = "fc05cf18-4c8d-40c4-ab44-ec0967a9a46d"
URL = "https://www.agency.example/"

_TIMING = {
    "requestTime": 14168.9012,
    "dnsStart": 0.4,
    "dnsEnd": 0.9,
    "connectStart": 0.9,
    "connectEnd": 60.5,
    "sslStart": 30.2,
    "sslEnd": 60.4,
    "sendStart": 60.9,
    "sendEnd": 61.1,
    "receiveHeadersStart": 95.0,
}
_RESPONSE = {
    "url": URL,
    "status": 200,
    "protocol": "h2",
    "mimeType": "text/html",
    "connectionId": 12,
    "remoteIPAddress": "203.0.113.7",
    "remotePort": 443,
    "fromServiceWorker": False,
    "fromDiskCache": False,
    "fromPrefetchCache": False,
    "encodedDataLength": 210,
    "timing": _TIMING,
}
_STACK = {"callFrames": [{"url": f"{URL}app.js", "lineNumber": 3}], "parent": {"callFrames": []}}


def _sent(request: str, url: str, **more: Any) -> tuple[str, dict[str, Any]]:
    event = {
        "requestId": request,
        "loaderId": LOADER,
        "timestamp": 14168.9011,
        "request": {"url": url, "method": "GET", "initialPriority": "VeryHigh", "headers": {}},
        "initiator": {"type": "script", "stack": _STACK},
        "frameId": MAIN_FRAME,
        "type": "Document",
        "renderBlockingBehavior": "Blocking",
    }
    return "Network.requestWillBeSent", {**event, **more}


CHROMIUM_EVENTS: list[tuple[str, dict[str, Any]]] = [
    _sent(LOADER, URL),
    _sent(LOADER, f"{URL}moved", redirectResponse={**_RESPONSE, "status": 302}),
    (
        "Network.responseReceived",
        {
            "requestId": LOADER,
            "loaderId": LOADER,
            "frameId": MAIN_FRAME,
            "timestamp": 14168.9971,
            "type": "Document",
            "response": _RESPONSE,
        },
    ),
    ("Network.dataReceived", {"requestId": LOADER, "encodedDataLength": 1400, "dataLength": 3000}),
    (
        "Network.loadingFinished",
        {"requestId": LOADER, "timestamp": 14169.01, "encodedDataLength": 12345},
    ),
    _sent("2.1", f"{URL}x.js", type="Script"),
    (
        "Network.loadingFailed",
        {
            "requestId": "2.1",
            "timestamp": 14169.02,
            "errorText": "net::ERR_FAILED",
            "blockedReason": "inspector",
            "corsErrorStatus": {"corsError": "MissingAllowOriginHeader"},
        },
    ),
    _sent("2.2", f"{URL}y.js"),
    ("Network.requestServedFromCache", {"requestId": "2.2"}),
    ("Network.webSocketCreated", {"requestId": "3.1", "url": "wss://www.agency.example/live"}),
    ("Network.webSocketWillSendHandshakeRequest", {"requestId": "3.1", "timestamp": 14169.03}),
    (
        "Network.webSocketHandshakeResponseReceived",
        {"requestId": "3.1", "timestamp": 14169.06, "response": {"status": 101}},
    ),
    ("Log.entryAdded", {"entry": {"text": "404", "level": "error", "url": f"{URL}y.js"}}),
    (
        "Runtime.consoleAPICalled",
        {"type": "error", "args": [{"type": "string", "value": "x"}, {"description": "Array(1)"}]},
    ),
    (
        "Runtime.exceptionThrown",
        {"exceptionDetails": {"text": "Uncaught", "exception": {"description": "Error: x"}}},
    ),
    (
        "Page.screencastFrame",
        {"sessionId": 1, "data": "iVBORw0K", "metadata": {"monotonicTimestamp": 14169.2}},
    ),
    (
        "Page.lifecycleEvent",
        {"frameId": MAIN_FRAME, "loaderId": LOADER, "name": "init", "timestamp": 14169.0},
    ),
    (
        "Page.lifecycleEvent",
        {"frameId": MAIN_FRAME, "loaderId": LOADER, "name": "load", "timestamp": 14169.25},
    ),
    ("Page.loadEventFired", {"timestamp": 14169.250856}),
    ("Page.frameNavigated", {"frame": {"id": MAIN_FRAME, "url": URL}, "type": "Navigation"}),
    (
        "PerformanceTimeline.timelineEventAdded",
        {
            "event": {
                "frameId": MAIN_FRAME,
                "type": "largest-contentful-paint",
                "time": 1795413501.2331998,
                "lcpDetails": {"renderTime": 1795413501.2331998, "loadTime": 0, "size": 2448},
            }
        },
    ),
]


def _request(**more: Any) -> dict[str, Any]:
    start_ms = 1795413511805.5
    timings = {
        "timeOrigin": 0,
        "requestTime": start_ms,
        "dnsStart": start_ms + 17.7,
        "dnsEnd": start_ms + 17.7,
        "connectStart": start_ms + 17.8,
        "connectEnd": start_ms + 25.1,
        "tlsStart": start_ms + 20.0,
        "tlsEnd": start_ms + 25.0,
        "requestStart": start_ms + 26.7,
        "responseStart": start_ms + 59.4,
        "responseEnd": start_ms + 59.8,
    }
    request = {"request": "12", "url": URL, "method": "GET", "destination": "document"}
    base = {"context": TAB, "navigation": NAVIGATION, "redirectCount": 0}
    return {**base, "request": {**request, "timings": timings}, **more}


_ANSWER = {
    "status": 200,
    "protocol": "h2",
    "mimeType": "text/html;charset=utf-8",
    "bytesReceived": 4321,
    "fromCache": False,
}

FIREFOX_EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("network.beforeRequestSent", _request()),
    ("network.responseStarted", _request(response=_ANSWER)),
    ("network.responseCompleted", _request(response=_ANSWER)),
    ("network.fetchError", _request(redirectCount=1, errorText="NS_ERROR_ABORT")),
    ("log.entryAdded", {"level": "error", "text": "x", "type": "console"}),
    (
        "browsingContext.navigationCommitted",
        {"context": TAB, "navigation": NAVIGATION, "timestamp": 1795413512006, "url": URL},
    ),
    (
        "browsingContext.load",
        {"context": TAB, "navigation": NAVIGATION, "timestamp": 1795413512160, "url": URL},
    ),
    ("browsingContext.userPromptOpened", {"context": TAB, "type": "alert", "message": "x"}),
]
