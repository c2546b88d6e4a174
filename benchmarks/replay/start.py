"""Measure how soon a lab answers: from its start to the first answer over TLS."""

import subprocess
import time
from pathlib import Path

from benchmarks.shared.generated_site import many_origins
from eyelevel.base.errors import LabError
from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME

TIMEOUT_S = 30.0


def first_answer_ms(folder: Path, origins: int, runs: int) -> list[float]:
    """Wall time of each run: the lab built over an unlimited path, a client started in it, the
    last origin's answer there. The client's own start is part of it."""
    site = many_origins(folder, origins)
    stack = lab_stack(STACKS_BY_NAME["tcp+"], NETWORKS_BY_NAME["dsl"])
    host = f"origin{origins - 1}.example"
    values = []
    for _ in range(runs):
        started_s = time.monotonic()
        with Lab(LabConfig({"down": [], "up": []}, 1, str(site), stack)) as lab:
            authority = folder / "authority.pem"
            authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
            address = next(o["address"] for o in lab.ready.origins if o["host"] == host)
            command = [
                *(*lab.command_prefix, find_binary(), "bulk", "--to", f"{address}:443"),
                *("--url", f"https://{host}/dot.svg", "--http", "h2", "--ca", str(authority)),
                *("--bytes-max", "10", "--duration-ms", "10000"),
            ]
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
            values.append((time.monotonic() - started_s) * 1e3)
        if done.returncode:
            raise LabError(f"the first answer: {done.stderr.decode()}")
    return values
