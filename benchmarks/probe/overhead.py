"""Measure what the prober adds to a handshake: its times against the kernel's stamps of the
packets.

The kernel's handshake is SYN to SYN-ACK, ClientHello to the flight that completes TLS, or the first
Initial to QUIC's completing datagram. Over it are this process's delays, wherever they are not
taken out; the time of cryptography is taken off, which the row states by itself.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from eyelevel.lab.client import Lab
from eyelevel.lab.prober import probe_events

PROBERS = 16
INTERVAL_MS = 160
"""A hundred handshakes a second together."""
SYN = 2
TCP, UDP = 6, 17
WIRE = Path(__file__).with_name("wire.py")

Packets = dict[tuple[int, int], list[list[int]]]


def overheads_us(lab: Lab, authority: Path, protocol: str, count: int) -> dict[str, float]:
    """Return quantiles over `count` handshakes of 16 probers at once."""
    device = next(name for _, name in _devices(lab) if name != "lo")
    capture = subprocess.Popen(
        [*lab.command_prefix, sys.executable, str(WIRE), device],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert capture.stdout is not None
    assert capture.stdout.readline() == "listening\n"
    with ThreadPoolExecutor(PROBERS) as pool:
        runs = [
            pool.submit(_rows, lab, _config(lab, authority, protocol, count // PROBERS, seed))
            for seed in range(PROBERS)
        ]
        rows = [row for run in runs for row in run.result()]
    said, _ = capture.communicate("", timeout=60)
    packets: Packets = {}
    for line in said.splitlines():
        packet = json.loads(line)
        packets.setdefault((packet[2], packet[3]), []).append(packet)
    times = [over for row in rows if (over := _over_us(row, packets)) is not None]
    failed = sum(row["failure"] is not None for row in rows)
    return {
        "n": len(times),
        "failed": failed,
        "p50_us": float(np.percentile(times, 50)),
        "p99_us": float(np.percentile(times, 99)),
        "max_us": max(times),
    }


def _config(lab: Lab, authority: Path, protocol: str, count: int, seed: int) -> dict[str, Any]:
    target = {"host": "n.bench.lab", "port": 443, "path": "/"}
    return {
        "targets": [target | {"connect": lab.ready.server_address}],
        "protocols": [protocol],
        "v4": True,
        "v6": False,
        "count": count,
        "interval_ms": INTERVAL_MS,
        "timeout_ms": 10_000,
        "resume_session": False,
        "early_data": False,
        "local_port": None,
        "resolver": None,
        "authority_file": str(authority),
        "vantage": None,
        "user_agent": None,
        "seed": seed,
    }


def _rows(lab: Lab, config: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(probe_events("probe", config, lab.command_prefix))


def _devices(lab: Lab) -> Iterator[tuple[int, str]]:
    command = [*lab.command_prefix, sys.executable, "-c"]
    command += ["import json, socket; print(json.dumps(socket.if_nameindex()))"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    yield from json.loads(done.stdout)


def _over_us(row: Mapping[str, Any], packets: Packets) -> float | None:
    """Return None where the port was used twice, or the row failed."""
    is_quic = row["protocol"].startswith("quic")
    own = packets.get((UDP if is_quic else TCP, row["local_port"]), [])
    if row["failure"] is not None or (not is_quic and sum(_is_syn(one) for one in own) != 2):
        return None
    kernel_ns = 0
    if not is_quic:
        out, back = (next(one for one in own if _is_syn(one) and one[1] == way) for way in (1, 0))
        kernel_ns = back[0] - out[0]
    if row["protocol"] != "tcp":
        kernel_ns += _flight_ns([one for one in own if one[5] > 0])
    return float(row["connection_us"] - row["crypto_us"] - kernel_ns / 1000)


def _is_syn(packet: list[int]) -> bool:
    return packet[2] == TCP and bool(packet[4] & SYN)


def _flight_ns(payload: list[list[int]]) -> int:
    """Return the time from the first byte out to the last arrival of the first flight back."""
    arrivals = [one[0] for one in payload if not one[1]]
    flight_end = arrivals[0]
    for at_ns in arrivals:
        # What comes much later answers this side's next flight.
        if at_ns - arrivals[0] > 10_000_000:
            break
        flight_end = at_ns
    return flight_end - next(one[0] for one in payload if one[1])
