"""The emulated path carries what it was given, counts as a wire would, leads out on request."""

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from path_command import needs_root
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import LabError
from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab, LabConfig

TRIES = 5


# A transfer over TCP whose bytes can be foretold: the receiver prints their hash.
SEND = """
import hashlib, socket, sys
data = hashlib.shake_128(b"path").digest(int(sys.argv[3]))
with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=30) as s:
    s.sendall(data)
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
print(hashlib.sha256(data).hexdigest())
"""
RECEIVE = """
import hashlib, socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.create_server((sys.argv[1], int(sys.argv[2])), family=kind) as server:
    print("listening", flush=True)
    connection, _ = server.accept()
    digest = hashlib.sha256()
    while part := connection.recv(1 << 20):
        digest.update(part)
print(digest.hexdigest())
"""

# Datagrams handed to the kernel as one super-packet (UDP_SEGMENT), each with its number.
SEND_UDP = """
import socket, sys
UDP_SEGMENT = 103
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(kind, socket.SOCK_DGRAM) as s:
    s.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
    s.connect((sys.argv[1], int(sys.argv[2])))
    s.send(b"".join(bytes([number]) * 1000 for number in range(30)) + b"end")
"""
RECEIVE_UDP = """
import socket, sys
kind = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(kind, socket.SOCK_DGRAM) as s:
    s.settimeout(20)
    s.bind((sys.argv[1], int(sys.argv[2])))
    print("listening", flush=True)
    while (data := s.recv(2000)) != b"end":
        assert data == data[:1] * 1000, "mixed up"
        print(data[0], flush=True)
"""


def path_lab(down: Any, up: Any = (), **settings: Any) -> Lab:
    path = {"down": down, "up": list(up) if isinstance(up, tuple) else up}
    return Lab(LabConfig(path=path, seed=3, **settings))


def transfer(lab: Lab, address: str, scripts: tuple[str, str], *more: str) -> tuple[str, str]:
    """What sender (at the far end) and receiver (the client) printed."""
    receiver = subprocess.Popen(
        [*lab.command_prefix, sys.executable, "-c", scripts[1], address, "4000"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening\n"
        sender = [*lab.server_command_prefix, sys.executable, "-c", scripts[0], address, "4000"]
        sent = subprocess.run(
            [*sender, *more], capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True
        )
        received, _ = receiver.communicate(timeout=TEST_TIMEOUT_S)
    finally:
        if receiver.poll() is None:
            receiver.kill()
            receiver.wait()
    return sent.stdout, received


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    "stages",
    [
        "none",
        "delay 1ms, rate 300 Mbit/s, queue droptail 50ms",
        "delay 1ms, rate 200 Mbit/s, queue fq_codel ecn",
        "delay 1ms, rate 200 Mbit/s, queue red min 5 max 50 weight 0.01",
        "delay 1ms, token_bucket 400 Mbit/s 64 kB",
        "loss 1%, duplicate 1%, jitter uniform 0ms 1ms reordering, corrupt 1%",
    ],
)
def test_bytes_arrive_as_they_were_sent(
    labs: None, version: int, stages: str, tmp_path: Path
) -> None:
    with path_lab(stages, "delay 1ms", log=str(tmp_path)) as lab:
        ready = lab.ready
        address = ready.client_address if version == 4 else ready.client_address6
        assert address is not None
        sent, received = transfer(lab, address, (SEND, RECEIVE), "8000000")
        assert sent == received
        summary = lab.stop().path
    assert summary is not None
    down = summary["down"]
    # Super-packets count as their packets of wire size, and none is larger than that.
    assert down["packets"] >= 8_000_000 / 1448 and down["bytes"] / down["packets"] <= 1500
    for name in ("down", "up"):
        assert summary[name]["log_lost_records"] == 0
        checked = run_tool(["path-check", str(tmp_path / f"{name}.log")], accept=(0, 2))
        assert checked["differences"] == [], name
        assert checked["arrivals"] == summary[name]["packets"]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("stages", "passed", "dropped"),
    [
        # Of 31 at once one is in transmission, 20 wait and 10 find no room, the last with them.
        ("rate 50 Mbit/s, queue droptail 20 packets", 21, {"queue-full": 10}),
        # Its average is what waits: from 8 on nothing passes, and before that hardly any is chosen.
        (
            "rate 50 Mbit/s, queue red min 7 max 8 probability 0.0001% weight 1 no-gentle",
            9,
            {"active-queue": 22},
        ),
        # 1028 bytes each over IPv4 and 1048 over IPv6; the last, a short one, fits what is left.
        ("token_bucket 8 kbit/s 12 kB", 11, {"policed": 19}),
    ],
)
def test_a_udp_super_packet_is_many_packets(
    labs: None, version: int, stages: str, passed: int, dropped: dict[str, int]
) -> None:
    with path_lab(stages) as lab:
        ready = lab.ready
        address = ready.client_address if version == 4 else ready.client_address6
        assert address is not None
        receiver = [*lab.command_prefix, sys.executable, "-c", RECEIVE_UDP, address, "4000"]
        with subprocess.Popen(receiver, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "listening\n"
            sender = [*lab.server_command_prefix, sys.executable, "-c", SEND_UDP, address, "4000"]
            subprocess.run(sender, timeout=TEST_TIMEOUT_S, check=True)
            numbers = [int(process.stdout.readline()) for _ in range(passed)]
            process.kill()
        summary = lab.stop().path
    assert numbers == list(range(passed))
    assert summary is not None
    assert summary["down"]["packets"] == 31
    assert summary["down"]["dropped"] == dropped


def test_queues_and_counts_are_told_while_it_runs(labs: None) -> None:
    states: list[Mapping[str, int]] = []
    queued, released = threading.Event(), threading.Event()

    def update(event: Mapping[str, Any]) -> None:
        state = event["down"]
        states.append(state)
        if 0 < state["queue_packets"] <= state["held_packets"]:
            queued.set()
        if state["released_packets"] > 600:
            released.set()

    config = LabConfig(
        path={"down": "rate 20 Mbit/s, queue codel ecn target 1ms interval 10ms", "up": []},
        seed=1,
        watch_interval_ms=20,
    )
    with Lab(config, update) as lab:
        # A machine that does not run who looks every 20 ms may show a transfer's end alone.
        for _ in range(TRIES):
            transfer(lab, lab.ready.client_address, (SEND, RECEIVE), "1000000")
            assert released.wait(TEST_TIMEOUT_S)
            if queued.is_set():
                break
        lab.stop()
    assert queued.is_set()
    assert all(state["queue_bytes"] >= 0 for state in states)


# Run in a network of its own, which forwards and has the address 198.51.100.1.
AROUND = """
import json, subprocess, sys, time
from pathlib import Path
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.binary import find_binary

def ip(words):
    return subprocess.run(["ip", *words.split()], capture_output=True, text=True).stdout

def lab(delay_ms):
    stage = [{"stage": "delay", "delay_ms": delay_ms}]
    return Lab(LabConfig(path={"down": stage, "up": stage}, seed=1, internet=True))

# A connection to where nothing listens is refused after one round trip.
PING = '''
import errno, socket, time
began_s = time.monotonic()
assert socket.socket().connect_ex(("198.51.100.1", 9)) == errno.ECONNREFUSED
print(1000 * (time.monotonic() - began_s))
'''

def ping(lab):
    command = [*lab.command_prefix, sys.executable, "-c", PING]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
"""
OUTSIDE = (
    AROUND
    + """
ip("link set lo up")
ip("addr add 198.51.100.1/32 dev lo")
Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
"""
)


def run_outside(script: str) -> list[str]:
    """The words that a script prints in that network."""
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", OUTSIDE + script],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs_root
@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_way_out_leads_out_and_is_gone_afterwards(labs: None, end: str) -> None:
    script = """
with lab(10.0) as outer:
    print(ping(outer) >= 20, ip("-o link").count("eyl"))
    if END == "kill":
        outer._conversation._process.kill()
        outer._summary = ()
for _ in range(10_000):
    if "eyl" not in ip("-o link"):
        break
    time.sleep(0.02)
print(ip("-o link").count("eyl"), len(ip("route")))
"""
    assert run_outside(f"END = {end!r}\n" + script) == ["True", "1", "0", "0"]


@needs_root
def test_a_path_in_a_path_is_joined_to_it(labs: None, tmp_path: Path) -> None:
    # 20 ms of the outer path and 60 of the inner one.
    inner = tmp_path / "inner.py"
    inner.write_text(AROUND + "\nwith lab(30.0) as own:\n    print(ping(own))\n")
    script = f"""
with lab(10.0) as outer:
    subprocess.run([*outer.command_prefix, sys.executable, {str(inner)!r}])
"""
    (rtt_ms,) = run_outside(script)
    assert float(rtt_ms) >= 80


def test_the_way_out_is_refused_in_one_line(labs: None) -> None:
    with pytest.raises(LabError, match="internet: ") as refused, path_lab([], internet=True):
        if Path("/proc/sys/net/ipv4/ip_forward").read_text().strip() == "1" and not os.geteuid():
            pytest.skip("this machine forwards packets: there is nothing to refuse")
    assert "\n" not in str(refused.value)
