"""Check that no process was suspended and that the emulated path kept its times; pure.

Disturbance by other programs is judged per block, when a run is read
(`eyelevel.analysis.trials.disturbance`).
"""

from eyelevel.analysis.trials.disturbance import disturbance
from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.client import find_lost_outside

LATENESS_US_P99_MAX = 1000.0
"""Packets read or released later than this, at the 99th percentile, are late."""
LATENESS_MS_MAX = 5.0
LATENESS_RTT_SHARE_MAX = 0.05
"""The latest packet may be late by the larger of 5 ms and 5 % of the minimum RTT."""


def starved(path: JsonMapping, host: JsonMapping, rtt_ms_min: float) -> str:
    """Return why a single transfer is invalid, by the lab's `path` and `host`; else ""."""
    return (
        describe_suspension(host)
        or late_packets(path, rtt_ms_min)
        or disturbance(0.0, host["cpu_steal_share"])
    )


def late_packets(path: JsonMapping, rtt_ms_min: float) -> str:
    """Return how the emulated path missed its times or lost packets; empty if it did neither."""
    bound_us = max(LATENESS_MS_MAX, LATENESS_RTT_SHARE_MAX * rtt_ms_min) * 1e3
    for direction in ("down", "up"):
        seen = path[direction]
        for what, late in (("released", seen), ("read", seen["arrival"])):
            if reason := _late(late, bound_us, direction, what):
                return reason
    lost = find_lost_outside(path)
    for end in path["lost_outside"]:
        if counts := [f"{source} {count}" for place, source, count in lost if place == end]:
            return f"packets were lost outside the emulated path at the {end}: {', '.join(counts)}"
    return ""


def describe_suspension(host: JsonMapping) -> str:
    """Return which process of the load was suspended for longest, as a sentence; empty for none."""
    seen = host.get("suspended") or ()
    if not seen:
        return ""
    longest = max(seen, key=lambda each: each["ms"] or 0.0)
    how_long = "" if longest["ms"] is None else f" for {longest['ms'] / 1e3:.1f} s"
    others = f"; so were {len(seen) - 1} more" if len(seen) > 1 else ""
    return f"{longest['process']} was suspended{how_long}{others}"


def _late(late: JsonMapping, bound_us: float, direction: str, what: str) -> str:
    """Return why packets count as late in one direction; empty if they do not."""
    p99, latest = late["lateness_us_p99"] or 0.0, late["lateness_us_max"] or 0.0
    if p99 > LATENESS_US_P99_MAX:
        return f"packets {direction} were {what} {p99 / 1e3:.1f} ms late at the 99th percentile"
    if latest > bound_us:
        return (
            f"a packet {direction} was {what} {latest / 1e3:.1f} ms late, "
            f"the bound is {bound_us / 1e3:.1f} ms"
        )
    return ""
