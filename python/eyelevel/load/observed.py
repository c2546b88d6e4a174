"""The observations of a load that the judge reads."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.network import Network
from eyelevel.plan.stacks import Stack


@dataclass(frozen=True)
class Observed:
    """The observations of one load.

    `ended` and `detail` are the browser's; `objects` the record's; `frames` their number, None
    without capture; `requests`, `connections` and `path` the lab's; `host` the shares of
    `HostSample.until`; `connection_type` the browser's estimate of the network; `kernel` its
    release; `ended_on` the document that the page navigated to, if no server sent it;
    `timings_refused` why the page's own timings are invalid; `requests_lost` the number of those
    not in `objects`; `failed_step` the failure after the load.
    """

    ended: str
    detail: str
    objects: Sequence[JsonMapping]
    frames: int | None
    frames_lost: int
    first_contentful_paint_ms: float | None
    page_load_time_ms: float | None
    final_picture_matches: bool | None
    requests: Sequence[JsonMapping]
    connections: Sequence[JsonMapping]
    path: JsonMapping
    host: JsonMapping
    stack: Stack
    network: Network
    browser: Browser
    ended_on: str = ""
    timings_refused: str = ""
    requests_lost: int = 0
    connection_type: str | None = None
    kernel: str = ""
    failed_step: str = ""
    navigation_start_ns: int | None = None
    """Time zero on the lab's clock; None if the page was never navigated to."""

    @property
    def tells_connection_type(self) -> bool:
        """Whether our script could read the connection type: the page loaded, with JavaScript."""
        return self.ended == "complete" and self.browser.javascript
