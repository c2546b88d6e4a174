"""All aspects in which stacks may differ: one literal table, in files by where they are.

`eyelevel validate level` measures its rows, `eyelevel explain stacks` prints them, and
`docs/reference/level.md` documents them. An aspect is a setting, or is measured, or both; it is
described by nothing else.
"""

from eyelevel.calibration.level import settings_text as said
from eyelevel.calibration.level.aspect import Aspect
from eyelevel.calibration.level.aspects_of_browser import OF_BROWSER
from eyelevel.calibration.level.aspects_of_handshake import OF_HANDSHAKE
from eyelevel.calibration.level.aspects_of_wire import OF_WIRE
from eyelevel.plan.networks.origin_rtt import describe_rtts
from eyelevel.plan.stacks import Stack


def _visit(s: Stack) -> str:
    """Return the visit, which each stack of a plan may set."""
    meant = {
        "repeat": "repeat: a second load, with TLS tickets",
        "warm": "warm: a second load, over open connections",
    }
    visit = s.visit or "first"
    return meant.get(visit, str(visit))


def _server(s: Stack) -> str:
    """Return whether the server is eyelevel's, or the external command."""
    server = s.external_server
    if not server:
        return "eyelevel's"
    return f"somebody else's: {' '.join(server.command)}; what it does is its own"


@said.of_our_servers
def _congestion_control(s: Stack) -> str:
    """Return `congestion_control` in words."""
    return s.controller


def _idle(s: Stack) -> str:
    """Return `slow_start_after_idle` in words."""
    return "yes" if s.slow_start_after_idle else "no"


@said.of_our_servers
def _scheduler(s: Stack) -> str:
    """Return `priorities` in words."""
    if not s.schedules_responses:
        return "one response a connection"
    return "urgency, then order (RFC 9218)" if s.priorities else "all in turn"


@said.of_our_servers
def _think_time(s: Stack) -> str:
    """Return `think_time` in words."""
    return s.think_time if isinstance(s.think_time, str) else f"{s.think_time:g} ms"


def _origin_rtt(s: Stack) -> str:
    """Return `origin_rtt` in words, in addition to the network's."""
    return describe_rtts(s.origin_rtt)


def _names(s: Stack) -> str:
    """Return `coalescing` in words."""
    if not s.over_tls:
        return "none"
    return "as recorded" if s.coalescing else "one"


SETTINGS: tuple[Aspect, ...] = (
    Aspect("visit", _visit, ("visit",)),
    Aspect("server", _server, ("external_server",)),
    Aspect("congestion control", _congestion_control, ("congestion_control",)),
    Aspect("slow start after idle", _idle, ("slow_start_after_idle",)),
    Aspect("scheduler", _scheduler, ("priorities",)),
    Aspect("server think time", _think_time, ("think_time",)),
    Aspect("round trips by origin", _origin_rtt, ("origin_rtt",)),
    Aspect("certificate names", _names, ("coalescing",)),
)
"""Aspects that are settings only; those of congestion control are read back on every load."""

ASPECTS: tuple[Aspect, ...] = (*SETTINGS, *OF_BROWSER, *OF_WIRE, *OF_HANDSHAKE)
"""All aspects in the order of the tables."""
