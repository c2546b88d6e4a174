"""Read `tcp-info.jsonl`: what the kernel said of TCP connections, again and again."""

import json
from typing import Any

from eyelevel.connections.transport import Transport
from eyelevel.errors import ConnectionLogError


def parse_tcp_info(content: bytes, connection: int, name: str) -> Transport:
    """The samples of one connection; a cut-off last line is left aside.

    Raises ConnectionLogError for a line that is none.
    """
    samples = [each for each in _samples(content, name) if each["connection"] == connection]
    losses = []
    again = 0
    for sample in samples:
        if sample["retransmitted_packets"] > again:
            losses.append((sample["at_ns"] / 1e6, sample["retransmitted_packets"] - again))
            again = sample["retransmitted_packets"]
    return Transport(
        tuple(each["at_ns"] / 1e6 for each in samples),
        tuple(each["window_packets"] * each["segment_bytes"] for each in samples),
        tuple(each["in_flight_packets"] * each["segment_bytes"] for each in samples),
        tuple(
            each["rtt_us_smoothed"] / 1e3 if each["rtt_us_smoothed"] is not None else None
            for each in samples
        ),
        tuple(losses),
    )


def _samples(content: bytes, name: str) -> list[dict[str, Any]]:
    lines = content.split(b"\n")
    samples = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            samples.append(json.loads(line))
        except ValueError as error:
            if number == len(lines):
                break
            raise ConnectionLogError(f"reading {name}: line {number} is no JSON") from error
    return samples
