"""Describe in a trial's record the transfers that shared the path with its page."""

from collections.abc import Sequence

import numpy as np

from eyelevel.base.json_types import JsonMapping, JsonObject


def cross_traffic_record(
    summary: JsonMapping,
    navigation_start_ns: int | None = None,
    load_ms: float | None = None,
    objects: Sequence[JsonMapping] = (),
) -> JsonObject:
    """Return the record's `cross_traffic` (spec/run-record.md).

    `summary` is the lab's; `load_ms` the time from `navigation_start_ns` (CLOCK_MONOTONIC) to the
    page's load event, None without one.
    """
    flows = [dict(flow) for flow in summary["flows"]]
    record = {
        "flows": flows,
        "fairness_index": dict(summary["fairness_index"]),
        "sampled_at_ns": list(summary["sampled_at_ns"]),
        "load": None,
    }
    if navigation_start_ns is not None and load_ms:
        record["load"] = _during_load(record, navigation_start_ns, load_ms, objects)
    return record


def silent_flow(summary: JsonMapping | None) -> str:
    """Return a sentence on the first flow of the cross traffic without any bytes; empty if none."""
    for number, flow in enumerate((summary or {}).get("flows", ()), start=1):
        if not flow["bytes"]:
            return (
                f"cross traffic: flow {number} ({flow['congestion_control']} {flow['direction']}) "
                "brought nothing"
            )
    return ""


def _during_load(
    found: JsonMapping,
    start_ns: int,
    load_ms: float,
    objects: Sequence[JsonMapping],
) -> JsonObject:
    """Return the goodputs from the navigation to the load event: the page's and the flows'."""
    window_ns = [start_ns, start_ns + load_ms * 1e6]
    seconds = load_ms / 1e3
    goodputs = []
    for flow in found["flows"]:
        before, after = np.interp(window_ns, found["sampled_at_ns"], flow["sampled_bytes"])
        goodputs.append(round(float(after - before) * 8 / seconds, 1))
    page_bytes = sum(
        item["encoded_bytes"] or 0
        for item in objects
        if item["from"] == "network" and (item["finished_ms"] or np.inf) <= load_ms
    )
    page_bit_s = page_bytes * 8 / seconds
    down = [
        goodput
        for goodput, flow in zip(goodputs, found["flows"], strict=True)
        if flow["direction"] == "down"
    ]
    total = page_bit_s + sum(down)
    return {
        "duration_ms": load_ms,
        "flow_goodput_bit_s": goodputs,
        "page_bytes": page_bytes,
        "page_goodput_bit_s": round(page_bit_s, 1),
        "page_share": round(page_bit_s / total, 6) if total else None,
    }
