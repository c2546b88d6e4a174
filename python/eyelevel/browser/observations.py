"""Raw observations of one load of one page, in milliseconds from navigation start.

Nothing is derived. Time zero is the navigation start of the first document
(`performance.timeOrigin`), even if a script of the page then redirects to another document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from eyelevel.base.json_types import JsonObject
from eyelevel.browser.same_requests import SameRequests
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

REQUESTS_MAX = 20_000
"""Maximum number of requests kept of one load, including its steps."""

REQUEST_CHARS_MAX = 64 << 20
"""Maximum characters of their URLs, header fields and request bodies together."""

LOCAL_SCHEMES = ("data:", "blob:", "about:", "chrome:", "chrome-error:", "filesystem:")
"""URL schemes that never reach the network."""

UNDECODABLE = ("net::ERR_CONTENT_DECODING_", "contentEncodingError")
"""Prefixes of Chromium's and Firefox's errors for a body that does not match `Content-Encoding`."""


CaptureMethod = Literal["screencast", "trace"]
LoadEnd = Literal["complete", "timeout", "navigation-failed", "browser-crashed"]
Source = Literal["network", "cache", "service-worker", "data"]


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """Settings of one load: which page to open and how to observe it."""

    url: str
    stack: Stack = STACKS_BY_NAME["tcp"]
    """Stack in force; the browser uses its protocols and settings."""
    browser: Browser = Browser()  # noqa: RUF009 (frozen)
    """Browser settings in force."""
    quic_origins: tuple[str, ...] = ()
    """`host:port` of every origin that must be reached by QUIC; only used with `h3`."""
    blocked_urls: tuple[str, ...] = ()
    """The URLs that an edit blocked, which the browser must not request; `*` stands for any
    characters. Hosts that a plan blocks are in `browser.blocked_hosts`."""
    own_hosts: tuple[tuple[str, str], ...] = ()
    """Hosts that Chromium maps to these addresses instead of resolving them."""
    spki_sha256: str | None = None
    """Base64 of the SHA-256 of the one public key to trust."""
    ca_certificate: str | None = None
    """PEM of the certificate authority to trust, if a key alone cannot be trusted (Firefox)."""
    command_prefix: tuple[str, ...] = ()
    """Prefix of the browser's command; it must pass on descriptors 3 and 4 and stay in the
    session.
    """
    cores: tuple[int, ...] | None = None
    """CPU cores for the browser's helpers outside of `command_prefix`; None for all cores."""
    viewport_px: tuple[int, int] = (1280, 720)
    method: CaptureMethod = "screencast"
    """Capture method, if frames are captured."""
    picture_px: tuple[int, int] = (640, 360)
    """Maximum size of a screencast's frames; the compositor scales the page down to it. Half
    the viewport slows a load by a third of what full size does
    (docs/decisions/0007-frame-capture.md).
    """
    same_page: SameRequests | None = None
    """Fixed date and random numbers, so that every load requests the same URLs; None for real
    ones.
    """
    as_recorded: bool = False
    """Whether objects recorded over http are requested over http, without upgrades (replays)."""
    proxy: str | None = None
    """`host:port` of an HTTP proxy for all requests, loopback included; for recording."""
    between_visits: Callable[[], None] = lambda: None
    """Called between the visits, after the pages of the first one are closed."""
    when_over: Callable[[RawLoad], None] = lambda _: None
    """Called with the observations while the browser is still open."""
    mobile: bool = False
    """Whether to emulate a mobile browser: touch, a mobile viewport and user agent."""
    device_scale: float = 1.0
    """Device pixels per CSS pixel (`devicePixelRatio`)."""
    device_model: str = ""
    """Phone model in client hints."""
    user_agent: str | None = None
    """User agent; None for the browser's own."""
    screenshot: bool = False
    """Whether to capture a full-size image of the viewport at the end of the load."""
    quiet_s: float = 1.0
    """Seconds without request or paint, after the load event, that end the load."""
    cap_s: float = 10.0
    """Maximum seconds from the load event to the end of the load."""


@dataclass(frozen=True, slots=True)
class Navigation:
    """Milestones in milliseconds from navigation start; None for one that did not occur."""

    page_load_time_ms: float | None = None
    time_to_first_byte_ms: float | None = None
    first_contentful_paint_ms: float | None = None
    """Presentation time of the lifecycle event; the page's own value is rounded to 4 ms."""
    dom_content_loaded_ms: float | None = None
    first_paint_ms: float | None = None
    largest_contentful_paint_ms: float | None = None
    largest_contentful_paint_element: str | None = None
    largest_contentful_paint_url: str | None = None
    """URL of its image as the page requested it; None for text."""
    largest_contentful_paint_loaded_ms: float | None = None
    """Time at which that image had been loaded, before it was painted."""
    cumulative_layout_shift: float | None = None
    long_tasks_ms: tuple[tuple[float, float], ...] | None = ()
    """Start and duration of each task above 50 ms; None if the browser does not report them."""
    timer_gaps_ms: tuple[tuple[float, float], ...] = ()
    """Start and length of each gap above 50 ms of the page's 20 ms timer."""
    user_timings: Mapping[str, float] = field(default_factory=dict)
    """The page's own marks, from navigation start (`mark:NAME`), and the durations of its measures
    (`measure:NAME`); of each name the first."""
    documents: int = 1
    """Number of documents shown in the main frame; above 1 if the page redirected by script."""

    def of(self, ended: LoadEnd) -> Navigation:
        """Return the milestones for a load that `ended` so; after a timeout without page load time.

        A page that goes on to further documents may finish one between the time limit and the
        reading of its timings.
        """
        return replace(self, page_load_time_ms=None) if ended == "timeout" else self

    def as_record(self) -> JsonObject:
        """Return the record's `navigation` object."""
        return {name: getattr(self, name) for name in self.__slots__}


Fields = tuple[tuple[str, str], ...]
"""Header fields as (name, value), in the order in which the browser reports them."""


@dataclass(frozen=True, slots=True)
class Message:
    """A request and its response without timing: fields, sizes, a short request body."""

    request_fields: Fields = ()
    request_body: str | None = None
    """Request body; None if there was none or the browser does not report it."""
    status_text: str = ""
    response_fields: Fields = ()
    response_head_bytes: int | None = None
    """Bytes of the response head as received; None if unknown."""
    content_bytes: int | None = None
    """Bytes of the response body after content decoding; None if unknown."""

    def as_json(self) -> JsonObject:
        """Return the message as an entry of the file of messages."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class ObjectLoad:
    """One request and its response; each hop of a redirect is a separate object."""

    url: str
    method: str
    resource_type: str
    protocol: str | None
    status: int | None
    started_ms: float
    """Time at which the page requested it, before any queueing inside the browser."""
    lookup_ms: tuple[float, float] | None
    """Start and end of the DNS lookup that it waited for."""
    connect_ms: tuple[float, float] | None
    """Start and end of connecting, TLS included; None on a reused connection."""
    tls_ms: tuple[float, float] | None
    """Start and end of the TLS handshake; for QUIC the same as `connect_ms`."""
    sending_ms: float | None
    """Time at which the browser began to send it."""
    sent_ms: float | None
    """Time at which the request had been sent."""
    response_ms: float | None
    """Time of the first byte of the response head."""
    finished_ms: float | None
    """Time of the last byte of the body, or of the error; None if it was still loading."""
    encoded_bytes: int
    """Bytes received, head included, before content decoding."""
    source: Source
    render_blocking: str | None
    """DevTools' name: Blocking, InBodyParserBlocking, NonBlocking, NonBlockingDynamic, ..."""
    in_main_frame: bool | None
    """Whether the main frame requested it, not a child frame; None if unknown."""
    initiator_type: str | None
    """DevTools' name: parser (markup or a style sheet), script, preload, other, ..."""
    mime_type: str | None
    priority: str | None
    """Chromium's priority at the time of the request: VeryLow to VeryHigh."""
    connection: int | None
    address: str | None
    failed: str | None
    """Error text; None if it did not fail."""
    from_early_hints: bool = False
    """Whether the browser had requested it by Early Hints, before the page did."""
    message: Message | None = None
    """Header fields and sizes, stored next to the record; None if not reported."""

    def as_record(self) -> JsonObject:
        """Return the object as an entry of the record's `objects`."""
        left_out = ("source", "message", "from_early_hints")
        record = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        record["from"] = self.source
        if self.from_early_hints:
            record["from_early_hints"] = True
        return record


@dataclass(frozen=True, slots=True)
class Frame:
    """A captured image of the viewport, valid from its display time on."""

    at_ms: float
    """Display time; 0 for the state before the navigation."""
    image: bytes
    """PNG (screencast) or JPEG (trace), as the browser encoded it."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """A click or a key (Event Timing)."""

    event: str
    """Name of its event whose handlers took longest, such as `click` or `keydown`."""
    at_ms: float
    """Time of that event, from navigation start."""
    input_delay_ms: float
    """From the event to its first handler."""
    processing_ms: float
    """From there to the end of its last handler."""
    duration_ms: float
    """Duration of the longest event, from the input to the next frame after its handlers; the
    browser rounds it to 8 ms."""

    def as_record(self) -> JsonObject:
        """Return the interaction as an entry of the record's `interactions`."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class StepLoad:
    """Observations of one step after the load; times in milliseconds from navigation start."""

    step: str
    started_ms: float
    """Time at which its input was sent: the step's time zero."""
    ended_ms: float
    """Time at which the step was over, after the quiet second."""
    begun_ms: float = 0.0
    """Time at which its preparation began: a click's element is scrolled into view."""
    documents: int = 0
    """Number of documents that it opened in the main frame."""
    load_event_ms: float | None = None
    first_contentful_paint_ms: float | None = None
    """First Contentful Paint of the document that it opened."""
    capped: bool = False
    final_picture_matches: bool | None = None
    failed: str | None = None
    interactions: tuple[Interaction, ...] = ()
    """Interactions with the page that was loaded; those below 16 ms are not reported."""
    interaction_count: int = 0
    """Number of interactions with it, the unreported ones included."""
    objects: tuple[ObjectLoad, ...] = ()
    frames: tuple[Frame, ...] = ()
    """Frames of the step; the first is the state at its beginning."""

    def as_record(self) -> JsonObject:
        """Return the step as an entry of the record's `after_load`, without its frames."""
        left_out = ("frames", "begun_ms", "interactions", "interaction_count")
        fields = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        if self.interaction_count:
            fields["interactions"] = [each.as_record() for each in self.interactions]
            fields["interaction_count"] = self.interaction_count
        return {**fields, "objects": [item.as_record() for item in self.objects]}


@dataclass(frozen=True, slots=True)
class RawLoad:
    """All observations of one load."""

    ended: LoadEnd
    detail: str
    """One sentence on how it ended; "" for `complete`."""
    navigation: Navigation = field(default_factory=Navigation)
    objects: tuple[ObjectLoad, ...] = ()
    frames: tuple[Frame, ...] = ()
    console_errors: tuple[str, ...] = ()
    initiators: Mapping[str, str] = field(default_factory=dict)
    """First initiator of each requested URL: a document, style sheet or script."""
    browser_version: str = ""
    capped: bool = False
    """Whether the page was still busy when the cap after its load event ended the load."""
    settled: bool = True
    """Whether the browser was idle before the navigation."""
    navigation_start_ns: int | None = None
    """Time zero, CLOCK_MONOTONIC; None if there was no navigation."""
    frames_lost: int = 0
    """Number of frames dropped; above 0 the load's visual metrics are invalid."""
    requests_lost: int = 0
    """Number of requests dropped; above 0 `objects` is incomplete."""
    console_dropped: int = 0
    """Number of console messages that were not parsed because there were too many (Chromium)."""
    timings_refused: str = ""
    """Why the page's own timings were rejected and are absent; "" if they were accepted."""
    ended_on: str = ""
    """URL of the last document, if it did not come from a server (`about:blank`): its timings
    are not the page's, and are absent.
    """
    timing_differences_ms: Mapping[str, float] = field(default_factory=dict)
    """Differences between the page's own timings and the browser's events, ms, by
    `Navigation`'s field names; what only one of them reports is absent.
    """
    has_early_hints: bool = False
    """Whether the browser took in a 103 (Early Hints)."""
    effective_connection_type: str | None = None
    """Effective connection type that Chromium assumed at the end; None if unknown or Firefox."""
    final_picture_matches: bool | None = None
    """Whether a capture at the end equals the last frame, bit by bit. False: a frame is
    missing. None: not captured, or the page was still changing.
    """
    screenshot: bytes = b""
    """PNG of the viewport at the end; b"" if none was requested or it failed."""
    after_load: tuple[StepLoad, ...] = ()
    logs: Mapping[str, bytes] = field(default_factory=dict)
    """Requested logs of the browser, gzip-compressed, by file name."""
    filmed: bool = False
    """Whether the frames are a recording of the screen, 30 per second, not the browser's own."""
    suspended: tuple[str, ...] = ()
    """Programs of the load, other than the browser, that were suspended during it."""
    cpu_s: float = 0.0
    """CPU time of all processes of the browser since its start, seconds."""
    start_cpu_s: float = 0.0
    """The part of `cpu_s` before the navigation."""
    wall_ms: Mapping[str, float] = field(default_factory=dict)
    """Wall time of each phase: `start` (process), `open` (empty page), `settle`, `load`
    (navigation to load event), `quiet` (to the end of the load), `collect`, `end` (teardown),
    and `total`.
    """

    def as_record(self) -> JsonObject:
        """Return the record's `navigation`, `objects` and `frames`, and the other keys."""
        return {
            "navigation": self.navigation.as_record(),
            "objects": [item.as_record() for item in self.objects],
            "frames": [
                {"at_ms": frame.at_ms, "index": index} for index, frame in enumerate(self.frames)
            ],
            "browser": {
                "console_errors": list(self.console_errors),
                "capped": self.capped,
                "settled": self.settled,
                "navigation_start_ns": self.navigation_start_ns,
                "frames_lost": self.frames_lost,
                **({"console_dropped": self.console_dropped} if self.console_dropped else {}),
                "timing_differences_ms": dict(self.timing_differences_ms),
                "effective_connection_type": self.effective_connection_type,
                "final_picture_matches": self.final_picture_matches,
                **({"filmed": True} if self.filmed else {}),
                "cpu_s": self.cpu_s,
                "start_cpu_s": self.start_cpu_s,
                "wall_ms": dict(self.wall_ms),
            },
        }
