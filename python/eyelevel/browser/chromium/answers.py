"""Types of the DevTools results that we use; field names are the protocol's."""

from typing import (
    Annotated,
    NotRequired,  # pydantic needs this one before Python 3.12
)

from pydantic import Field
from typing_extensions import TypedDict

from eyelevel.browser.messages import Number, Offset


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


ANSWERS = {
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
