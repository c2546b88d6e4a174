"""The congestion controllers that plans may name are those that there are."""

import json
import subprocess
from typing import get_args

from eyelevel.lab.binary import find_binary
from eyelevel.plan.stacks import CongestionControl

TRANSFER = {
    "congestion_control": "none-such",
    "rate_bit_s": 10_000_000,
    "rtt_ms_min": 40,
    "queue_ms": 100,
    "loss": 0,
    "seed": 1,
    "body_bytes": 10_000,
    "duration_ms": 1000,
    "packets_per_ack": 2,
    "probe_gain": None,
}


def test_plans_name_every_controller_that_there_is() -> None:
    asked = json.dumps([TRANSFER]) + "\n"
    command = [find_binary(), "simulate"]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    _, _, known = done.stderr.strip().partition("no congestion control `none-such`; known: ")
    assert sorted(known.split(", ")) == sorted(get_args(CongestionControl)), done.stderr
