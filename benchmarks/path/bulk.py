"""Measure the throughput of one TCP transfer over a fast link, and what moving it costs."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.path.figure import Figure
from eyelevel.base.errors import LabError
from eyelevel.lab.client import Lab, LabConfig

GIGABITS = (1, 2, 5, 8)
SHARE_ASKED = {1: ">= 0.98", 2: ">= 0.98", 5: ">= 0.98", 8: "(aim 0.98)"}
DELAY_MS, QUEUE_MS = 1.0, 20
SECONDS, WARM_UP_S = 6, 2
RUNS = 3
# Full IP packets of 1500 bytes carry 1448 of TCP's payload, with timestamps.
PAYLOAD_SHARE = 1448 / 1500
PORT = 5201


@dataclass(frozen=True)
class Transfer:
    """Share of the link's rate, and CPU seconds a gigabyte of the emulator and of the machine."""

    share: float
    emulator_s: float
    machine_s: float


def bulk() -> Iterator[Figure]:
    """Yield medians of interleaved runs; the costs at 1 Gbit/s."""
    if not shutil.which("iperf3"):
        raise LabError("iperf3 is missing; as root: apt-get install iperf3")
    rounds = [{gigabits: transfer(gigabits) for gigabits in GIGABITS} for _ in range(RUNS)]
    for gigabits, asked in SHARE_ASKED.items():
        share = _median([each[gigabits].share for each in rounds])
        what = f"share of {gigabits} Gbit/s, delay, rate, queue and loss 0, one TCP flow"
        peer = ("0.98 to 1.0-1.8", "to 0.7") if gigabits == 1 else ()
        yield Figure(what, asked, f"{share:.4f}", *peer)
    emulator_s = _median([each[1].emulator_s for each in rounds])
    machine_s = _median([each[1].machine_s for each in rounds])
    peer = ("4.4 to 18", "11.8")
    yield Figure("CPU of the emulator at 1 Gbit/s, s/GB", "<= 3.5", f"{emulator_s:.3f}", *peer)
    yield Figure("CPU of the machine with iperf3 at 1 Gbit/s, s/GB", "", f"{machine_s:.3f}")


def transfer(gigabits: int) -> Transfer:
    """Transfer from the far end to the client, where iperf3 receives."""
    delay = {"stage": "delay", "delay_ms": DELAY_MS}
    queue = {"discipline": "droptail", "limit_ms": QUEUE_MS}
    rate = {"stage": "rate", "rate_bit_s": gigabits * 10**9, "queue": queue}
    path = {"down": [delay, rate, {"stage": "loss", "probability": 0}], "up": [delay]}
    with Lab(LabConfig(path, 1)) as lab:
        server = subprocess.Popen(
            [*lab.server_command_prefix, "iperf3", "-s", "-1", "-p", str(PORT)],
            stdout=subprocess.DEVNULL,
        )
        command = ["iperf3", "-c", lab.ready.server_address, "-p", str(PORT), "-R", "-J"]
        command += ["-t", str(SECONDS), "-O", str(WARM_UP_S), "-C", "cubic"]
        try:
            _await_listener(lab)
            before = _cpu_s(lab.ready.init_pid), _machine_cpu_s()
            done = subprocess.run(
                [*lab.command_prefix, *command], stdout=subprocess.PIPE, check=True, timeout=60
            )
            after = _cpu_s(lab.ready.init_pid), _machine_cpu_s()
        finally:
            server.kill()
            server.wait()
        summary = lab.stop()
    received = json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    assert summary.path is not None
    gigabytes = summary.path["down"]["released_bytes"] / 1e9
    cost = [(late - early) / gigabytes for early, late in zip(before, after, strict=True)]
    return Transfer(received / PAYLOAD_SHARE / (gigabits * 1e9), *cost)


def _await_listener(lab: Lab) -> None:
    probe = [*lab.server_command_prefix, "cat", "/proc/net/tcp", "/proc/net/tcp6"]
    for _ in range(100):
        seen = subprocess.run(probe, stdout=subprocess.PIPE, text=True, check=True).stdout
        if f":{PORT:04X} " in seen:
            return
        time.sleep(0.02)
    raise LabError("iperf3 does not listen at the far end")


def _cpu_s(process: int) -> float:
    """Return the CPU time of all threads of a process, from the scheduler's nanoseconds."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def _machine_cpu_s() -> float:
    """Return everything but idle and waiting for the disk."""
    first = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    ticks = [int(each) for each in first]
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
