"""Aspects of the browser: which requests it delays, its connections, and its request order."""

from eyelevel.calibration.level import settings_text as said
from eyelevel.calibration.level.aspect import PAGES, Aspect, Measure
from eyelevel.calibration.level.classes import Bound
from eyelevel.plan.stacks import Stack


def _alt_svc(s: Stack) -> str:
    """Return `alt_svc`, for HTTP/3 only, and the visitor, in words."""
    known = "servers known beforehand" if s.visitor == "known" else "a first visitor"
    if s.over_quic and not s.is_ours:
        return f"{known}; the server names HTTP/3, or does not"
    if not s.over_quic or s.alt_svc is None:
        return known
    return f"{known}; responses {'name' if s.alt_svc else 'do not name'} HTTP/3"


def _connection_type(s: Stack) -> str:
    """Return `effective_connection_type` in words, if the stack sets it."""
    given = s.effective_connection_type
    return {None: "from the network", "network": "from the network"}.get(given, str(given))


FORCED = (
    "six sockets a host until it is known to speak HTTP/2; forced QUIC knows beforehand: "
    "--origin-to-force-quic-on"
)
"""The bound for forced QUIC: at most five unused connections to each of the page's two hosts."""

OF_BROWSER: tuple[Aspect, ...] = (
    Aspect(
        "time in the browser's scheduler",
        _alt_svc,
        ("alt_svc", "visitor"),
        what="of low-priority requests, once their host had answered, median",
        measure=Measure("scheduler_ms_p50", PAGES, "ms", "network log", margin=5.0),
        switch={"alt_svc": False},
    ),
    Aspect(
        "the longest in the scheduler",
        what="the same, 90th percentile",
        measure=Measure("scheduler_ms_p90", PAGES, "ms", "network log", margin=20.0),
    ),
    Aspect(
        "important ones in the scheduler",
        what="of requests that are not of low priority, 90th percentile",
        measure=Measure("scheduler_important_ms_p90", PAGES, "ms", "network log", margin=20.0),
    ),
    Aspect(
        "requests held back",
        what="requests that the browser did not let go at once",
        measure=Measure("held_back", PAGES, "requests", "network log", compared="count"),
    ),
    Aspect(
        "requests in flight",
        what="most requests of low priority that were under way at once to one host",
        measure=Measure("in_flight_max", PAGES, "requests", "network log", compared="count"),
    ),
    Aspect(
        "connection type",
        _connection_type,
        ("effective_connection_type",),
        what="what the browser takes the network for, at the end of the load",
        measure=Measure("connection_type", PAGES, "", "record", compared="label"),
        switch={"effective_connection_type": "3g"},
    ),
    Aspect(
        "connections",
        what="those that the browser opened for the page, as its servers saw them",
        measure=Measure(
            "connections",
            PAGES,
            "",
            "servers' events",
            compared="count",
            bound=Bound("browser", -10.0, 0.0),
            because=FORCED,
        ),
    ),
    Aspect(
        "unused connections",
        what="those that carried no request",
        measure=Measure(
            "unused_connections",
            PAGES,
            "",
            "servers' events",
            compared="count",
            bound=Bound("browser", -10.0, 0.0),
            because=FORCED,
        ),
    ),
    Aspect(
        "order on the wire",
        what="pairs of requests of different kinds that the page's server got the other way round",
        measure=Measure("order_share", PAGES, "share", "servers' events", margin=0.05),
    ),
    Aspect(
        "late script's place",
        what="requests that the page's server got before its last script",
        measure=Measure(
            "late_script_place", PAGES, "requests", "servers' events", compared="count"
        ),
    ),
    Aspect(
        "priorities",
        what="kinds of objects by the priority that their requests ask for",
        measure=Measure(
            "priorities",
            PAGES,
            "",
            "servers' events",
            compared="label",
            none_of=said.no_priorities,
        ),
    ),
)
