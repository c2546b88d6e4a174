"""The chain of requests that decided when a page was painted."""

from collections.abc import Sequence

from eyelevel.json_types import JsonMapping

# Kinds whose content makes the browser request further objects.
_REQUESTERS = ("Document", "Stylesheet", "Script")


def critical_path(
    objects: Sequence[JsonMapping], paint_ms: float, url: str | None = None
) -> list[int]:
    """Return the positions of the objects on the critical path of a paint, in loading order.

    `objects`: a record's (spec/run-record.md). `paint_ms`: the paint in ms after navigation start.
    `url`: the painted resource, such as Largest Contentful Paint's, if there is one.

    The path ends with that resource, else with the last object before the paint that blocks
    rendering, or the document. It leads back from each object to the one that became available
    last before it was requested: a document with its first byte, since it is parsed while it
    arrives, and a stylesheet or script with its last. Records do not name the initiator of a
    request, so a predecessor is the latest that timing allows, not one that was observed.
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
    return max(painted or blocking, default=(0.0, None))[1]


def _blocks_rendering(item: JsonMapping) -> bool:
    if item["resource_type"] == "Document":
        return bool(item["in_main_frame"])
    return item["render_blocking"] in ("Blocking", "InBodyParserBlocking")


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
