"""What is lost beside the emulated path's model is told by its place, and starves a load."""

import os
import subprocess
from typing import Any

import pytest
from raw_lab import NOBODY, SENDER, inside, raw_lab, send, stopped, summary_of

from eyelevel.load.rules import find_starvation

ROUNDS = 25
"""Of 1000 packets. A TUN device's queue holds 20 000, a packet socket fewer."""

# Says "counted" once the kernel of its namespace has counted a loss.
COUNTED = """
import select
def await_count(file, word, name):
    while True:
        lines = [line.split() for line in open("/proc/net/" + file) if line.startswith(word)]
        if int(lines[1][lines[0].index(name)]):
            return print("counted", flush=True)
        select.select([], [], [], 0.01)
"""
# Never reads what its buffer has hardly room for.
DEAF = f"""
{COUNTED}
import socket, sys
deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
deaf.bind(("", 9))
print("ready", flush=True)
await_count("snmp", "Udp:", "RcvbufErrors")
"""
# Never accepts whom its queue has hardly room for.
FULL = f"""
{COUNTED}
import socket
full = socket.create_server(("", 9), backlog=0)
print("ready", flush=True)
await_count("netstat", "TcpExt:", "ListenDrops")
"""
CALLERS = """
import socket, sys
callers = [socket.socket() for _ in range(8)]
for caller in callers:
    caller.setblocking(False)
    caller.connect_ex((sys.argv[1], 9))
print("ready", flush=True)
sys.stdin.read()
"""

pytestmark = [
    pytest.mark.usefixtures("labs"),
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to stop and to enter a lab"),
]


def assert_starved(path: dict[str, Any], end: str, source: str) -> None:
    assert path["lost_outside"][end][source] > 0, path["lost_outside"]
    for way in ("down", "up"):
        late = {"lateness_us_p99": 0, "lateness_us_max": 0}
        path[way] |= late | {"arrival": late}
    reason = find_starvation(path, {"cpu_steal_share": 0.0}, 400.0)
    assert f"at the {end}" in reason and source in reason, reason


@pytest.mark.parametrize(
    ("user", "source"), [((), "device"), (NOBODY, "packet_socket")], ids=["root", "nobody"]
)
def test_packets_that_do_not_fit_before_the_path(user: tuple[str, ...], source: str) -> None:
    with (
        raw_lab(user) as (process, ready),
        inside(ready, SENDER, ready["server_address"]) as outgoing,
    ):
        with stopped(ready):
            for _ in range(ROUNDS):
                send(outgoing, 1000)
        path = summary_of(process)
    assert_starved(path, "client", source)


def _counted(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "counted\n"


def test_packets_that_do_not_fit_into_a_receivers_buffer() -> None:
    with raw_lab(()) as (process, ready):
        with (
            inside(ready, DEAF) as deaf,
            inside(ready, SENDER, ready["client_address"], server=True) as outgoing,
        ):
            send(outgoing, 200)
            _counted(deaf)
        path = summary_of(process)
    assert_starved(path, "client", "udp_receive_buffer")
    assert not any(path["lost_outside"]["server"].values())


def test_connections_that_nobody_accepts() -> None:
    with raw_lab(()) as (process, ready):
        with (
            inside(ready, FULL, server=True) as full,
            inside(ready, CALLERS, ready["server_address"]),
        ):
            _counted(full)
        path = summary_of(process)
    assert_starved(path, "server", "tcp_accept_queue")


def test_a_path_in_order_loses_nothing_outside() -> None:
    with raw_lab(()) as (process, ready):
        with inside(ready, SENDER, ready["server_address"]) as outgoing:
            send(outgoing, 100)
        path = summary_of(process)
    assert list(path["lost_outside"]) == ["client", "server"]
    for lost in path["lost_outside"].values():
        assert len(lost) >= 6 and not any(lost.values()), lost
