"""Outcomes that only the other loads of a block or site can tell: pure, over the records.

A record's own outcome is committed with it and never changes. What a reader uses is the judged one:
the record's, or one of these where the record says `ok`.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

PICTURE_DIFFERENCE_MAX = 0.10
"""Mean difference of two final pictures, of full scale: a page whose hero image is missing differs
by more, one with another caption in a carousel by less."""

PRESSURE_RATIO_MAX = 3.0
PRESSURE_SHARE_MARGIN = 0.30
LOADS_MIN = 4
"""A load is starved when its CPU pressure is above three times the median of the same page's loads
and 0.30 above it; fewer than four loads have no median worth comparing with."""

Judged = Mapping[str, tuple[str, str]]


def judge_all(records: Iterable[Mapping[str, Any]]) -> Judged:
    """`hash -> (outcome, detail)` for every record."""
    records = list(records)
    judged = {r["trial"]["hash"]: (r["outcome"], r["outcome_detail"]) for r in records}
    for rule in (_starved, _missed, _different):
        usable = [r for r in records if judged[r["trial"]["hash"]][0] == "ok"]
        judged.update(rule(usable))
    return judged


def missed_urls(record: Mapping[str, Any]) -> frozenset[str]:
    """What the page asked for and the recording does not hold, by URL without its query.

    Queries are left aside because pages put random numbers into them.
    """
    missed = [r["url"] for r in record["requests"] if r["match"] == "miss"]
    missed += [
        o["url"] for o in record["objects"] if (o["failed"] or "") == "net::ERR_NAME_NOT_RESOLVED"
    ]
    return frozenset(url.split("?", 1)[0] for url in missed)


def _missed(records: Sequence[Mapping[str, Any]]) -> Judged:
    found = {}
    for loads in _grouped(records, "block").values():
        sets = [missed_urls(load) for load in loads]
        common = frozenset.intersection(*sets)
        if all(each == common for each in sets):
            continue
        for load, each in zip(loads, sets, strict=True):
            extra = sorted(frozenset.union(*sets) - common)
            detail = (
                f"the block's stacks missed different requests: {extra[0]}"
                f"{' was' if extra[0] in each else ' was not'} missed here"
            )
            found[load["trial"]["hash"]] = ("missed-requests", detail)
    return found


def _different(records: Sequence[Mapping[str, Any]]) -> Judged:
    found = {}
    for loads in _grouped(records, "site").values():
        pictures = {
            load["trial"]["hash"]: bytes.fromhex(text)
            for load in loads
            if (text := load["browser"].get("final_picture"))
        }
        if len(pictures) < LOADS_MIN:
            continue
        typical = bytes(
            int(statistics.median(pixel)) for pixel in zip(*pictures.values(), strict=True)
        )
        for name, picture in pictures.items():
            difference = _difference(picture, typical)
            if difference > PICTURE_DIFFERENCE_MAX:
                detail = (
                    f"the final picture differs by {difference:.0%} from this site's other loads"
                )
                found[name] = ("different-page", detail)
    return found


def _starved(records: Sequence[Mapping[str, Any]]) -> Judged:
    found = {}
    cells: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        trial = record["trial"]
        if record["host"].get("cpu_pressure_share") is not None:
            cells[trial["site"], trial["network"], trial["arm"]].append(record)
    for loads in cells.values():
        if len(loads) < LOADS_MIN:
            continue
        quiet = statistics.median(load["host"]["cpu_pressure_share"] for load in loads)
        for load in loads:
            share = load["host"]["cpu_pressure_share"]
            if share > max(PRESSURE_RATIO_MAX * quiet, quiet + PRESSURE_SHARE_MARGIN):
                detail = (
                    f"CPU pressure was {share:.0%}, the median of this page's loads {quiet:.0%}"
                )
                found[load["trial"]["hash"]] = ("starved", detail)
    return found


def _grouped(records: Sequence[Mapping[str, Any]], key: str) -> dict[str, list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        groups[record["trial"][key]].append(record)
    return groups


def _difference(first: bytes, second: bytes) -> float:
    total = sum(abs(a - b) for a, b in zip(first, second, strict=True))
    return total / (255 * len(first))
