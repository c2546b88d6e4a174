"""Measure how long after their think time the servers answer."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks.replay.start import TIMEOUT_S
from benchmarks.shared.command import Figure
from benchmarks.shared.generated_site import pack
from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME

URL, ADDRESS = "https://thinking.example/", "192.0.2.1"
THINK_MS = (0.0, 0.25, 2.5, 30.0)
HTTP = {"tcp+": "h2", "quic": "h3"}


def beyond_ms(folder: Path, stack: str, think_ms: float, rounds: int) -> list[float]:
    """Return the times from a request to its answer's first byte minus the think time, in a lab
    without a path."""
    site = pack(folder, {URL: ("text/plain", b"thought")}, {"thinking.example": ADDRESS})
    thinks = replace(STACKS_BY_NAME[stack], think_time=think_ms or "none")
    served = lab_stack(thinks, NETWORKS_BY_NAME["dsl"])
    authority = folder / "authority.pem"
    found = []
    with Lab(LabConfig({"down": [], "up": []}, 1, str(site), served)) as lab:
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
        command = [
            *(*lab.command_prefix, find_binary(), "bulk", "--to", f"{ADDRESS}:443"),
            *("--url", URL, "--http", HTTP[stack], "--ca", str(authority)),
            *("--bytes-max", "10", "--duration-ms", "10000"),
        ]
        for _ in range(rounds):
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=True)
            found.append(json.loads(done.stdout)["first_byte_ms"] - think_ms)
    return found


def beyond_think_times(folder: Path, rounds: int) -> Iterator[Figure]:
    """One for each stack and think time; what is there without one is the way's and both ends'."""
    for stack in HTTP:
        for think_ms in THINK_MS:
            found = beyond_ms(folder, stack, think_ms, rounds)
            yield Figure(f"{stack}, think time {think_ms:g} ms: beyond it, ms", "", found)
