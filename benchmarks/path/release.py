"""Measure when packets leave: against the pure model, and as a ping sees it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.path.figure import Figure
from benchmarks.path.peers import bare_veth
from eyelevel.calibration.validation.path import Seen, experiment
from eyelevel.lab.client import Lab, LabConfig

DURATION_MS = 8000
# Sparse traffic, a small packet every 10 ms, and 20 Mbit/s of full packets.
TRAFFIC = {"idle": (100, 80_000), "20 Mbit/s": (1500, 20_000_000)}
DELAY = {"stage": "delay", "delay_ms": 20.0}

PINGS, PING_INTERVAL_S = 1000, 0.02
PINGER = Path(__file__).parent / "ping_inside.py"
PATH = {"down": [DELAY], "up": [DELAY]}


def release() -> Iterator[Figure]:
    """The actual release against the model's release time."""
    for priority in ("real-time", "normal"):
        for load, (wire_bytes, rate_bit_s) in TRAFFIC.items():
            realtime = priority == "real-time"
            seen = experiment([DELAY], rate_bit_s, wire_bytes, DURATION_MS, realtime=realtime)
            late_us = seen.log.late_us
            where = f"release against the model, {priority} priority, {load}"
            asked = ("<= 50", "<= 200") if realtime else ("", "")
            if realtime and not seen.realtime:
                where += " (not granted)"
            yield Figure(f"{where}, mean, us", asked[0], f"{late_us.mean():.1f}")
            p99 = float(np.percentile(late_us, 99))
            yield Figure(f"{where}, p99, us", asked[1], f"{p99:.1f}")


def ping() -> Iterator[Figure]:
    """Echo requests through 40 ms and through a veth pair without anything."""
    with bare_veth() as (prefix, address):
        bare_ms = _ping(prefix, address)
    with Lab(LabConfig(PATH, 1)) as lab:
        ours_ms = _ping(lab.command_prefix, lab.ready.server_address)
    yield Figure("ping through a bare veth, mean, ms", "", f"{bare_ms.mean():.4f}")
    yield Figure("ping through a bare veth, p99, ms", "", f"{np.percentile(bare_ms, 99):.4f}")
    beyond = ours_ms - 40.0
    mean = float(beyond.mean() - bare_ms.mean())
    p99 = float(np.percentile(beyond, 99) - bare_ms.mean())
    yield Figure(
        "ping beyond 40 ms and a veth, mean, ms", "<= 0.06", f"{mean:.4f}", "0.13 to 0.5", "0.4"
    )
    yield Figure("ping beyond 40 ms and a veth, p99, ms", "<= 0.3", f"{p99:.4f}", "1.4 to 3", "0.7")


def exactness() -> Iterator[Figure]:
    """Queues and drops as logged, against the pure model fed with the logged arrivals."""
    full = {"discipline": "droptail", "limit_ms": 20}
    queues = [full, *({"discipline": name} for name in ("codel", "fq_codel", "pie", "dualpi2"))]
    for queue in queues:
        rate = {"stage": "rate", "rate_bit_s": 50_000_000, "queue": queue}
        seen = experiment([DELAY, rate, LOSS], 70_000_000, 1500, 5000)
        yield _difference(f"unlike the model, 70 through 50 Mbit/s, {queue['discipline']}", seen)
    # Close enough that releases and reads share slots.
    rate = {"stage": "rate", "rate_bit_s": 600_000_000, "queue": full}
    seen = experiment([DELAY, rate, LOSS], 800_000_000, 1500, 1000)
    yield _difference("unlike the model, 800 through 600 Mbit/s, droptail", seen)


LOSS = {"stage": "loss", "probability": 0.01}


def _difference(what: str, seen: Seen) -> Figure:
    return Figure(f"{what}, of {seen.compared} records", "0", str(seen.differences))


def _ping(prefix: tuple[str, ...], address: str) -> np.ndarray:
    command = [*prefix, sys.executable, str(PINGER), address, str(PINGS), str(PING_INTERVAL_S)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=200)
    return np.array(json.loads(done.stdout))
