"""Analyse what Chromium's scheduler did with a load's requests, from its network log (pure).

A request is alive from the moment at which the renderer handed it over. Chromium holds a request of
low priority back if too many are under way to hosts of which it does not know that they heed
priorities, or if it takes the network for slow. What then lets it start is the trigger.
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

from eyelevel.json_types import JsonMapping, JsonObject

PRIORITIES: tuple[str, ...] = ("THROTTLED", "IDLE", "LOWEST", "LOW", "MEDIUM", "HIGHEST")
"""Chromium's names, in its order."""

DELAYABLE: frozenset[str] = frozenset(PRIORITIES[:4])
"""Chromium, services/network/resource_scheduler: what is below MEDIUM can be held back."""

SCHEDULER = "ResourceScheduler"
_BEGIN, _END = "PHASE_BEGIN", "PHASE_END"


@dataclass(frozen=True, slots=True)
class ScheduledRequest:
    """One request; times are CLOCK_MONOTONIC milliseconds, which the log gives in whole ones."""

    url: str
    host: str
    priority: str
    """The priority when the scheduler got it: one of `PRIORITIES`."""
    alive_ms: float
    started_ms: float | None
    """The time when it left the scheduler; None if it never did."""
    trigger: str | None
    """The event that let it start, as Chromium names it; None if it was not held back."""
    connected_ms: float | None
    """The time when it had a connection, new or open."""
    sent_ms: float | None
    response_ms: float | None
    """The time when the response's head had arrived."""
    ended_ms: float | None


class Waits(NamedTuple):
    """Time in the scheduler by what happened meanwhile; for a known host the last part alone.

    Over HTTP/2 Chromium learns that a host heeds priorities from its first connection, two round
    trips after it began to connect; over HTTP/3 from its first response, two round trips as well.
    It looks at held requests again when another ends.
    """

    connecting_ms: float
    """The time held back before the host was first connected."""
    answering_ms: float
    """The time held back from then until its first response."""
    after_ms: float
    """The time held back after that, when only the scheduler's limits hold requests."""


@dataclass(frozen=True, slots=True)
class Scheduling:
    """The requests of a load, in the order in which they were handed over."""

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
        """Return the most requests of low priority that were under way at once, by host; "" in
        all."""
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
        # Within a millisecond of the log an end lets the next one start: ends come first.
        for _, step, host in sorted(changes):
            for name in (host, ""):
                in_flight[name] += step
                most[name] = max(most[name], in_flight[name])
        return dict(most)


def request_scheduling(
    log: JsonMapping, urls: Collection[str] | None = None, since_ms: float = 0.0
) -> Scheduling:
    """Return how a load's requests were scheduled, from a network log.

    `urls`: of the page's requests (fragments dropped); None: all over http and https, the
    browser's own included. `since_ms`: requests handed over before that are left out, those of an
    earlier visit; CLOCK_MONOTONIC.
    """
    names = _Names(log["constants"])
    sources: dict[int, list[JsonObject]] = {}
    for event in log["events"]:
        if event["source"]["type"] == names.url_request:
            sources.setdefault(event["source"]["id"], []).append(event)
    of_sources = (_of_source(events, names) for events in sources.values())
    chosen = [
        request
        for request in of_sources
        if request is not None
        and request.alive_ms >= since_ms
        and (urls is None or request.url.partition("#")[0] in urls)
    ]
    return Scheduling(tuple(sorted(chosen, key=lambda request: request.alive_ms)))


def read_network_log(compressed: bytes) -> JsonObject:
    """Read the network log kept beside a record as `netlog.json.gz`."""
    log: JsonObject = json.loads(gzip.decompress(compressed))
    return log


class _Names:
    """The names of a log's numbers, which differ between versions of Chromium."""

    def __init__(self, constants: JsonMapping) -> None:
        self.types = {number: name for name, number in constants["logEventTypes"].items()}
        self.phases = {number: name for name, number in constants["logEventPhase"].items()}
        self.url_request = constants["logSourceType"]["URL_REQUEST"]


@dataclass(slots=True)
class _EventTimes:
    """The first time of each event of one request."""

    at_ms: dict[tuple[str, str], float] = field(default_factory=dict)
    trigger: str | None = None
    held: bool = False

    def take(self, name: str, phase: str, event: JsonMapping) -> None:
        """Note one event."""
        params = event.get("params", {})
        if name == "DELEGATE_INFO" and params.get("delegate_blocked_by") == SCHEDULER:
            self.held = True
        elif name == "RESOURCE_SCHEDULER_REQUEST_STARTED":
            self.trigger = params.get("trigger", "")
        # The last end is the request's own: redirects have ends of their own.
        if name == "REQUEST_ALIVE" and phase == _END:
            self.at_ms[name, phase] = float(event["time"])
        self.at_ms.setdefault((name, phase), float(event["time"]))


def _of_source(events: Sequence[JsonMapping], names: _Names) -> ScheduledRequest | None:
    """Return the request of one source of events; None if its beginning is not in the log."""
    times, begin = _EventTimes(), None
    for event in events:
        name, phase = names.types.get(event["type"], ""), names.phases[event["phase"]]
        if (name, phase) == ("REQUEST_ALIVE", _BEGIN):
            begin = event["params"]
        times.take(name, phase, event)
    if begin is None or not begin.get("url", "").startswith(("http://", "https://")):
        return None
    time_of = times.at_ms.get
    # A request that stays in the scheduler until the log's end was held, too.
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
