"""The observations of a load that the judge sees."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.json_types import JsonMapping
from eyelevel.networks.network import Network
from eyelevel.plan.browser import Browser
from eyelevel.plan.stacks import Stack


@dataclass(frozen=True)
class Observed:
    """One load as its judge sees it.

    `ended` and `detail` are the browser's; `objects` the record's; `frames` how many, None without
    capture; `requests`, `connections` and
    `path` the lab's; `host` the shares of `HostSample.until`; `connection_type` what the
    browser took the network for; `kernel` its release;
    `ended_on` the document that the page left for, if no server gave it;
    `timings_refused` why the page's own timings are not believed; `requests_lost` how many are not
    among `objects`;
    `failed_step` what failed after the load.
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
        """Whether the browser was to say it: of a page that came, by a script of ours."""
        return self.ended == "complete" and self.browser.javascript
