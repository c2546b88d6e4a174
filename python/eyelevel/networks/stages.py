"""Stages that a plan spells out: files by digest, what they come to, and how they are said."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Stage = Mapping[str, Any]

DIGEST = "sha256:"
"""Before the digest that stands for a file: where it lies is not what it is."""

INFINITE_QUEUE_MS = 1000.0
"""What flows through a queue without a bound are given to fill it."""
MANAGED_QUEUE_MS = 100.0
"""The round trip that CoDel (RFC 8289), PIE (RFC 8033) and DualPI2 (RFC 9332) are made for."""
PACKET_BYTES = 1500

_DELAY_KEYS = {"uniform": "min_ms", "pareto": "scale_ms"}


def with_files(stages: Sequence[Stage], replaced: Callable[[str], str]) -> tuple[Stage, ...]:
    """The stages with each file's name replaced: `replaced` is called once for each."""
    return tuple(_with_files(stage, replaced) for stage in stages)


def trace_files(stages: Sequence[Stage]) -> list[str]:
    """The files, or what stands for them, of stages that follow a trace."""
    return [s["trace"] for s in stages if s["stage"] == "trace" and isinstance(s["trace"], str)]


def rate_bit_s(stages: Sequence[Stage], trace_rate_bit_s: Callable[[str], int]) -> int:
    """The lowest mean rate of the links; 0 where there is none. `trace_rate_bit_s`: of a file."""
    rates = [_rate(stage, trace_rate_bit_s) for stage in stages if "queue" in stage]
    return min(rates, default=0)


def delay_ms_min(stages: Sequence[Stage]) -> float:
    """What every packet is delayed by at least, without the time on a link."""
    return math.fsum(_delay(stage) for stage in stages)


def queue_ms_max(stages: Sequence[Stage], link_bit_s: int) -> float:
    """What the queues hold at most, in time at the direction's rate."""
    return max((_queue_ms(s["queue"], link_bit_s) for s in stages if "queue" in s), default=0.0)


def describe(stages: Sequence[Stage]) -> str:
    """The stages in one line, in the order in which a packet meets them."""
    return ", ".join(_said(stage) for stage in stages) or "nothing"


def _with_files(value: Any, replaced: Callable[[str], str]) -> Any:
    files = {"trace", "positions", "delays_ms"}
    if isinstance(value, Mapping):
        return {
            key: replaced(item)
            if key in files and isinstance(item, str)
            else _with_files(item, replaced)
            for key, item in value.items()
        }
    return value


def _rate(stage: Stage, trace_rate_bit_s: Callable[[str], int]) -> int:
    if stage["stage"] == "rate":
        return stage["rate_bit_s"]
    if stage["stage"] == "trace":
        return trace_rate_bit_s(stage["trace"]) * stage["opportunity_bytes"] // PACKET_BYTES
    steps, period_ms = stage["steps"], stage.get("period_ms")
    if period_ms is None:  # the last rate stays
        return steps[-1]["rate_bit_s"]
    ends = [*(step["at_ms"] for step in steps[1:]), period_ms]
    sent = math.fsum(
        step["rate_bit_s"] * (end - step["at_ms"]) for step, end in zip(steps, ends, strict=True)
    )
    return round(sent / period_ms)


def _delay(stage: Stage) -> float:
    if stage["stage"] == "delay":
        return stage["delay_ms"]
    if stage["stage"] == "address_delay":
        return min([stage.get("default_ms", 0.0), *stage["delays_ms"].values()])
    if stage["stage"] == "jitter" and not stage.get("per_address"):
        distribution = stage["distribution"]
        return distribution.get(_DELAY_KEYS.get(distribution["kind"]), 0.0)
    return 0.0


def _queue_ms(queue: Mapping[str, Any], link_bit_s: int) -> float:
    if queue["discipline"] == "infinite":
        return INFINITE_QUEUE_MS
    if queue["discipline"] not in ("droptail", "drophead"):
        return MANAGED_QUEUE_MS
    limits_bytes = [queue.get("limit_bytes"), queue.get("limit_packets", math.inf) * PACKET_BYTES]
    of_bytes = min(limit for limit in limits_bytes if limit is not None)
    in_time = of_bytes * 8000 / link_bit_s if link_bit_s else 0.0
    return min(queue.get("limit_ms", math.inf), in_time)


def _said(value: Stage) -> str:
    words = [str(value["stage"])]
    for key, item in value.items():
        if key in ("stage", "queue") or item is None or item is False:
            continue
        words += [key, _value_said(item)]
    queue = value.get("queue")
    if queue:
        rest = [f"{k} {v}" for k, v in queue.items() if k != "discipline" and v is not False]
        words += ["queue", queue["discipline"], *rest]
    return " ".join(words)


def _value_said(item: Any) -> str:
    if isinstance(item, Mapping):
        return "(" + " ".join(f"{k} {_value_said(v)}" for k, v in item.items()) + ")"
    if isinstance(item, list | tuple):
        return "(" + ", ".join(_value_said(each) for each in item) + ")"
    if isinstance(item, str) and item.startswith(DIGEST):
        return item[: len(DIGEST) + 12]
    return f"{item:g}" if isinstance(item, float) else str(item)
