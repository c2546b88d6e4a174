"""The chain of requests that decided when a page was painted."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.json_types import JsonMapping

# Resource types that make the browser request further objects.
_REQUESTERS = ("Document", "Stylesheet", "Script")


def critical_path(
    objects: Sequence[JsonMapping], paint_ms: float, url: str | None = None
) -> list[int]:
    """Return the positions of the objects on the critical path of a paint, in loading order.

    `objects`: as in a record (spec/run-record.md). `paint_ms`: the paint in ms after navigation
    start. `url`: the painted resource, such as Largest Contentful Paint's, if there is one.

    The path ends with that resource, else with the last render-blocking object before the paint, or
    the document. It leads back from each object to the one that became available last before it was
    requested: a document with its first byte, since it is parsed while it arrives, and a stylesheet
    or script with its last. Records do not name the initiator of a request, so a predecessor is the
    latest that timing allows, not one that was observed.
    """
    last = _last_before(objects, paint_ms, url)
    path: list[int] = []
    while last is not None and last not in path:
        path.append(last)
        last = _predecessor(objects, last)
    return path[::-1]


def _last_before(objects: Sequence[JsonMapping], paint_ms: float, url: str | None) -> int | None:
    arrived = [
        (item["finished_ms"], place)
        for place, item in enumerate(objects)
        if item["finished_ms"] is not None and item["finished_ms"] <= paint_ms
    ]
    painted = [one for one in arrived if url is not None and objects[one[1]]["url"] == url]
    blocking = [one for one in arrived if _blocks_rendering(objects[one[1]])]
    begun = [
        (item["response_ms"], place)
        for place, item in enumerate(objects)
        if item["resource_type"] == "Document"
        and item["in_main_frame"]
        and item["response_ms"] is not None
        and item["response_ms"] <= paint_ms
    ]
    # A page may be painted while its document still arrives.
    return max(painted or blocking or begun, default=(0.0, None))[1]


def _blocks_rendering(item: JsonMapping) -> bool:
    if item["resource_type"] == "Document":
        return bool(item["in_main_frame"])
    # A script in the body blocks what comes below it: `agency` paints 200 ms before its own ends.
    return bool(item["render_blocking"] == "Blocking")


def _predecessor(objects: Sequence[JsonMapping], place: int) -> int | None:
    started_ms = objects[place]["started_ms"]
    available = [
        (at_ms, other)
        for other, item in enumerate(objects)
        if other != place
        and item["resource_type"] in _REQUESTERS
        and (at_ms := _available_ms(item)) is not None
        and at_ms <= started_ms
    ]
    return max(available, default=(0.0, None))[1]


def _available_ms(item: JsonMapping) -> float | None:
    at_ms = item["response_ms" if item["resource_type"] == "Document" else "finished_ms"]
    return None if at_ms is None else float(at_ms)


@dataclass(frozen=True, slots=True)
class ObjectWaits:
    """The waits of the critical path while one of its objects was the last to arrive, in ms."""

    place: int
    connection: object
    """The connection's number in the browser; in Firefox, which gives none, the time it opened."""
    connections_ms: float
    first_byte_ms: float
    bytes_ms: float

    @property
    def total_ms(self) -> float:
        """Return the wait for this object: for its connection, first byte and bytes."""
        return self.connections_ms + self.first_byte_ms + self.bytes_ms


@dataclass(frozen=True, slots=True)
class PathWaits:
    """The time until a paint, divided into the waits of its critical path and a rest.

    `handshakes`: how many connections the path waited for. `rest_ms` is the browser's own time:
    name lookups, queues, parsing, scripts, layout and paint.
    """

    handshakes: int
    connections_ms: float
    first_byte_ms: float
    bytes_ms: float
    rest_ms: float


def path_waits(
    objects: Sequence[JsonMapping], paint_ms: float, url: str | None = None
) -> PathWaits:
    """Return the waits on the critical path of a paint (arguments as for `critical_path`)."""
    waits = object_waits(objects, paint_ms, url)
    connections_ms = sum(each.connections_ms for each in waits)
    first_byte_ms = sum(each.first_byte_ms for each in waits)
    bytes_ms = sum(each.bytes_ms for each in waits)
    return PathWaits(
        len({each.connection for each in waits if each.connections_ms > 0}),
        connections_ms,
        first_byte_ms,
        bytes_ms,
        paint_ms - connections_ms - first_byte_ms - bytes_ms,
    )


def object_waits(
    objects: Sequence[JsonMapping], paint_ms: float, url: str | None = None
) -> list[ObjectWaits]:
    """Return the waits for each object on the path, in loading order.

    An object counts from its start until the next one on the path starts, so that no instant counts
    twice. It also waits for a connection that another object opened.
    """
    path = critical_path(objects, paint_ms, url)
    ends_ms = [objects[place]["started_ms"] for place in path[1:]]
    waits, from_ms = [], 0.0
    for place, end_ms in zip(path, [*ends_ms, paint_ms], strict=False):  # an empty path has no end
        item = objects[place]

        sending_ms = item["started_ms"] if item["sending_ms"] is None else item["sending_ms"]
        opened = item["connect_ms"] or _connect_ms(objects, item["connection"])
        waited = (
            (max(opened[0], item["started_ms"]), min(opened[1], sending_ms)) if opened else None
        )
        spans = (
            waited,
            (sending_ms, item["response_ms"]),
            (item["response_ms"], item["finished_ms"]),
        )
        waits.append(
            ObjectWaits(
                place,
                tuple(opened or ()) if item["connection"] is None else item["connection"],
                *(_overlap_ms(span, from_ms, end_ms) for span in spans),
            )
        )
        from_ms = end_ms
    return waits


def _overlap_ms(
    span: tuple[float | None, float | None] | None, from_ms: float, end_ms: float
) -> float:
    if span is None or span[0] is None or span[1] is None:
        return 0.0
    return max(0.0, min(span[1], end_ms) - max(span[0], from_ms))


def _connect_ms(objects: Sequence[JsonMapping], connection: object) -> Sequence[float] | None:
    """Return the start and end of a connection's opening, in ms, or None if no object has them."""
    if connection is None:
        return None
    return next(
        (
            item["connect_ms"]
            for item in objects
            if item["connection"] == connection and item["connect_ms"]
        ),
        None,
    )
