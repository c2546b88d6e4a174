"""Classify what a browser did with the objects that Early Hints named."""

from typing import Literal

from eyelevel.analysis.metrics.network import NOT_MODIFIED
from eyelevel.base.json_types import JsonMapping

HintUse = Literal["used", "revalidated", "fetched twice", "fetched in vain", "not fetched early"]
"""The use of a hinted object: the page used what the hint had fetched, used it after a request that
was answered with 304, fetched it once more, did not request it, or fetched it itself because the
browser did not take up the hint."""


def hint_uses(record: JsonMapping) -> dict[str, HintUse]:
    """Return the use of each object that the load's Early Hints named, by URL; empty without."""
    if "early_hints" not in record:
        return {}
    return {url: _find_use(record, url) for url in record["early_hints"]["hinted"]}


def _find_use(record: JsonMapping, url: str) -> HintUse:
    """Compare the servers' requests for an object with those of the page, which do not include the
    browser's own early one."""
    statuses = [each["status"] for each in record["requests"] if each["url"] == url]
    objects = [each for each in record["objects"] if each["url"] == url]
    if not objects:
        return "fetched in vain" if statuses else "not fetched early"
    if len(statuses) > 1:
        return "revalidated" if NOT_MODIFIED in statuses[1:] else "fetched twice"
    is_early = any(each.get("from_early_hints") for each in objects)
    return "used" if is_early else "not fetched early"
