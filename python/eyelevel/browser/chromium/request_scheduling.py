"""Read from Chromium's network log how its scheduler treated a load's requests (pure).

A request is alive from the moment at which the renderer submitted it. Chromium holds back a
low-priority request if too many are in flight to hosts that are not known to honour priorities, or
if it considers the network slow. The event that lets it start is its trigger.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import urlsplit

from eyelevel.base.json_types import JsonMapping, JsonObject

PRIORITIES: tuple[str, ...] = ("THROTTLED", "IDLE", "LOWEST", "LOW", "MEDIUM", "HIGHEST")
"""Chromium's priorities, lowest first."""

DELAYABLE: frozenset[str] = frozenset(PRIORITIES[:4])
"""Priorities below MEDIUM, which can be held back (Chromium,
services/network/resource_scheduler).
"""

SCHEDULER = "ResourceScheduler"
_BEGIN, _END = "PHASE_BEGIN", "PHASE_END"


@dataclass(frozen=True, slots=True)
class ScheduledRequest:
    """One request; times are CLOCK_MONOTONIC milliseconds, with the log's resolution of 1 ms."""

    url: str
    host: str
    priority: str
    """Priority when the scheduler received it: one of `PRIORITIES`."""
    alive_ms: float
    started_ms: float | None
    """Time at which it left the scheduler; None if it never did."""
    trigger: str | None
    """Chromium's name of the event that let it start; None if it was not held back."""
    connected_ms: float | None
    """Time at which it had a connection, new or reused."""
    sent_ms: float | None
    response_ms: float | None
    """Time at which the response head was complete."""
    ended_ms: float | None


class Waits(NamedTuple):
    """Time held back by the scheduler, in three parts; for a known host only the last is not 0.

    Over HTTP/2 Chromium learns that a host honours priorities from its first connection, two round
    trips after it began to connect; over HTTP/3 from its first response, two round trips as well.
    It reconsiders held requests when another one ends.
    """

    connecting_ms: float
    """Time until the host was first connected, ms."""
    answering_ms: float
    """Time from then until the host's first response, ms."""
    after_ms: float
    """Time after that, when only the scheduler's limits hold requests back, ms."""


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The requests of a load, in order of submission."""

    requests: tuple[ScheduledRequest, ...]

    def held_back(self) -> tuple[ScheduledRequest, ...]:
        """Return the requests that did not start at once."""
        return tuple(request for request in self.requests if request.trigger is not None)

    def waits_ms(self, request: ScheduledRequest) -> Waits | None:
        """Return a request's time in the scheduler in three parts; None if it never left."""
        if request.started_ms is None:
            return None
        same_host = [other for other in self.requests if other.host == request.host]
        connected_ms = [other.connected_ms for other in same_host]
        response_ms = [other.response_ms for other in same_host]
        times_ms = [request.alive_ms]
        for of_host_ms in (connected_ms, response_ms):
            known_ms = (at_ms for at_ms in of_host_ms if at_ms is not None)
            first_ms = min(known_ms, default=request.started_ms)
            times_ms.append(min(max(first_ms, times_ms[-1]), request.started_ms))
        times_ms.append(request.started_ms)
        return Waits(*(later - sooner for sooner, later in pairwise(times_ms)))

    def in_flight_max(self) -> dict[str, int]:
        """Return the maximum of low-priority requests in flight by host, and in total under ""."""
        low = [request for request in self.requests if request.priority in DELAYABLE]
        changes: list[tuple[float, int, str]] = []
        for request in low:
            if request.started_ms is not None and request.ended_ms is not None:
                changes += [
                    (request.started_ms, 1, request.host),
                    (request.ended_ms, -1, request.host),
                ]
        most: Counter[str] = Counter()
        in_flight: Counter[str] = Counter()
        # The log's resolution is 1 ms. An end may let the next request start, so ends come first.
        for _, step, host in sorted(changes):
            for name in (host, ""):
                in_flight[name] += step
                most[name] = max(most[name], in_flight[name])
        return dict(most)


def request_scheduling(
    log: JsonMapping, urls: Collection[str] | None = None, since_ms: float = 0.0
) -> Scheduling:
    """Return how a load's requests were scheduled, from Chromium's network log.

    `urls`: URLs of the page's requests without fragments; None for all http and https requests, the
    browser's own included. `since_ms`: CLOCK_MONOTONIC milliseconds; requests submitted before
    then, of an earlier visit, are left out.
    """
    names = _Names(log["constants"])
    sources: dict[int, list[JsonObject]] = {}
    for event in log["events"]:
        if event["source"]["type"] == names.url_request:
            sources.setdefault(event["source"]["id"], []).append(event)
    of_sources = (_parse_source(events, names) for events in sources.values())
    chosen = [
        request
        for request in of_sources
        if request is not None
        and request.alive_ms >= since_ms
        and (urls is None or request.url.partition("#")[0] in urls)
    ]
    return Scheduling(tuple(sorted(chosen, key=lambda request: request.alive_ms)))


def read_network_log(compressed: bytes) -> JsonObject:
    """Parse the network log stored next to a record as `netlog.json.gz`."""
    log: JsonObject = json.loads(gzip.decompress(compressed))
    return log


class _Names:
    """Names of a log's numeric constants, which differ between versions of Chromium."""

    def __init__(self, constants: JsonMapping) -> None:
        self.types = {number: name for name, number in constants["logEventTypes"].items()}
        self.phases = {number: name for name, number in constants["logEventPhase"].items()}
        self.url_request = constants["logSourceType"]["URL_REQUEST"]


@dataclass(slots=True)
class _EventTimes:
    """First time of each event of one request, ms."""

    at_ms: dict[tuple[str, str], float] = field(default_factory=dict)
    trigger: str | None = None
    held: bool = False

    def take(self, name: str, phase: str, event: JsonMapping) -> None:
        """Store the time of one event."""
        params = event.get("params", {})
        if name == "DELEGATE_INFO" and params.get("delegate_blocked_by") == SCHEDULER:
            self.held = True
        elif name == "RESOURCE_SCHEDULER_REQUEST_STARTED":
            self.trigger = params.get("trigger", "")
        # Each redirect has an end, too; the last one is the request's.
        if name == "REQUEST_ALIVE" and phase == _END:
            self.at_ms[name, phase] = float(event["time"])
        self.at_ms.setdefault((name, phase), float(event["time"]))


def _parse_source(events: Sequence[JsonMapping], names: _Names) -> ScheduledRequest | None:
    """Return the request of one event source; None if the log lacks its beginning."""
    times, begin = _EventTimes(), None
    for event in events:
        name, phase = names.types.get(event["type"], ""), names.phases[event["phase"]]
        if (name, phase) == ("REQUEST_ALIVE", _BEGIN):
            begin = event["params"]
        times.take(name, phase, event)
    if begin is None or not begin.get("url", "").startswith(("http://", "https://")):
        return None
    time_of = times.at_ms.get
    # A request still in the scheduler at the log's end was held back, too.
    trigger = times.trigger if times.trigger is not None else ("" if times.held else None)
    return ScheduledRequest(
        url=begin["url"],
        host=urlsplit(begin["url"]).netloc,
        priority=begin.get("priority", ""),
        alive_ms=times.at_ms["REQUEST_ALIVE", _BEGIN],
        started_ms=time_of(("URL_REQUEST_START_JOB", _BEGIN)),
        trigger=trigger,
        connected_ms=time_of(("HTTP_STREAM_REQUEST", _END)),
        sent_ms=time_of(("HTTP_TRANSACTION_SEND_REQUEST", _BEGIN)),
        response_ms=time_of(("HTTP_TRANSACTION_READ_HEADERS", _END)),
        ended_ms=time_of(("REQUEST_ALIVE", _END)),
    )
