"""The first line of our own log: what the rest of it is read by, so nothing in it is believed."""

import json
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from eyelevel.errors import PathLogError

FORMAT, VERSION, RECORD_BYTES = "eyelevel-path-log", 1, 32

RATE_BIT_S_MAX = 1e15
PERIOD_MS_MIN = 1.0
START_NS_MAX = 1 << 62


def read_head(line: bytes, name: str) -> Mapping[str, Any]:
    """The settings. Raises PathLogError where they are of another version or cannot be true."""
    try:
        head = json.loads(line)
        found = (head["format"], head["version"], head["record_bytes"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PathLogError(
            f"{name}:1: the head is no JSON with a format, a version and a record's size; this is "
            "not a path's log, or it is damaged"
        ) from None
    if found != (FORMAT, VERSION, RECORD_BYTES):
        shown = " ".join(str(each)[:40] for each in found[:2])
        raise PathLogError(
            f"{name}:1: the log is of {' '.join(shown.split())}, not of {FORMAT} {VERSION}; read "
            "it with the version that wrote it"
        )
    if wrong := _wrong(head):
        raise PathLogError(f"{name}:1: the head has no sound {wrong}; the log is damaged")
    return head


def _wrong(head: Mapping[str, Any]) -> str | None:
    """The first part of the head that cannot have been written so."""
    stages, reasons = head.get("stages"), head.get("drop_reasons")
    if head.get("direction") not in ("down", "up"):
        return "`direction`"
    start_ns = head.get("start_ns")
    if not isinstance(start_ns, int) or not _is_number(start_ns, 0, START_NS_MAX):
        return "`start_ns`"
    if not isinstance(reasons, list) or not all(isinstance(each, str) for each in reasons):
        return "`drop_reasons`"
    if not isinstance(stages, list) or not all(isinstance(each, dict) for each in stages):
        return "`stages`"
    unsound = (place for place, stage in enumerate(stages, start=1) if not _is_stage(stage))
    place = next(unsound, None)
    return None if place is None else f"stage {place}"


def _is_stage(stage: Mapping[str, Any]) -> bool:
    kind = stage.get("stage")
    if kind == "rate":
        return _is_number(stage.get("rate_bit_s"), 1, RATE_BIT_S_MAX)
    if kind == "schedule":
        return _is_schedule(stage)
    return isinstance(kind, str)


def _is_schedule(stage: Mapping[str, Any]) -> bool:
    steps, period_ms = stage.get("steps"), stage.get("period_ms")
    if not isinstance(steps, list) or not steps:
        return False
    if not all(isinstance(step, dict) for step in steps):
        return False
    starts = [step.get("at_ms") for step in steps]
    rates = [step.get("rate_bit_s") for step in steps]
    return (
        all(_is_number(start, 0, math.inf) for start in starts)
        and all(_is_number(rate, 0, RATE_BIT_S_MAX) for rate in rates)
        and all(early < late for early, late in pairwise(starts))
        and (period_ms is None or _is_number(period_ms, PERIOD_MS_MIN, math.inf))
    )


def _is_number(value: Any, least: float, most: float) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return bool(least <= value <= most) and value < math.inf
