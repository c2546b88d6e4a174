"""Delay and rate are exact over IPv6 as over IPv4, whose headers are 20 bytes shorter."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.pathlog import read_arrivals
from eyelevel.lab.client import Lab, LabConfig

DELAY_MS, BIT_S = 20, 1_000_000
STAGES = f"delay {DELAY_MS}ms, rate {BIT_S // 1000} kbit/s, queue infinite"
DATAGRAMS, PAYLOAD_BYTES = 20, 1000
HEADERS_BYTES = {4: 20 + 8, 6: 40 + 8}

SEND = """
import socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(kind, socket.SOCK_DGRAM) as s:
    for number in range(int(sys.argv[2])):
        s.sendto(bytes(int(sys.argv[3])), (sys.argv[1], 4000))
"""
RECEIVE = """
import socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(kind, socket.SOCK_DGRAM) as s:
    s.settimeout(20)
    s.bind((sys.argv[1], 4000))
    print("listening", flush=True)
    for number in range(int(sys.argv[2])):
        s.recv(2000)
"""


@pytest.mark.parametrize("version", [4, 6])
def test_packets_take_their_delay_and_their_bytes_on_the_wire(
    labs: None, version: int, tmp_path: Path
) -> None:
    path = {"down": STAGES, "up": []}
    with Lab(LabConfig(path=path, seed=3, log=str(tmp_path))) as lab:
        ready = lab.ready
        address = ready.client_address if version == 4 else ready.client_address6
        assert address is not None
        counts = [address, str(DATAGRAMS), str(PAYLOAD_BYTES)]
        receiver = [*lab.command_prefix, sys.executable, "-c", RECEIVE, *counts]
        with subprocess.Popen(receiver, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            sender = [*lab.server_command_prefix, sys.executable, "-c", SEND, *counts]
            subprocess.run(sender, timeout=TEST_TIMEOUT_S, check=True)
            assert process.wait(timeout=TEST_TIMEOUT_S) == 0
    arrivals = read_arrivals((tmp_path / "down.log").read_bytes(), "down.log")
    wire_bytes = PAYLOAD_BYTES + HEADERS_BYTES[version]
    assert (arrivals.wire_bytes == wire_bytes).sum() == DATAGRAMS
    columns = (arrivals.at_ns, arrivals.wire_bytes, arrivals.released_ns)
    free_ns = 0
    for at_ns, packet_bytes, released_ns in np.column_stack(columns).tolist():
        free_ns = max(free_ns, at_ns + DELAY_MS * 1_000_000)
        free_ns += packet_bytes * 8 * 1_000_000_000 // BIT_S
        assert abs(released_ns - free_ns) <= 1
