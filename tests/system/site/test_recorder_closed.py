"""The recorder's own network: loopback with the proxy on it, and nobody else comes in or out."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from raw_lab import NOBODY
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary

USERS = pytest.mark.parametrize("user", [(), NOBODY], ids=["root", "rootless"])

# What is tried inside: prints the devices, then how each attempt ended.
INSIDE = """
import json, socket, sys
tried = {"devices": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]}
for kind, place in json.loads(sys.argv[1]).items():
    address, port = place
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    way = socket.SOCK_DGRAM if kind.startswith("udp") else socket.SOCK_STREAM
    try:
        with socket.socket(family, way) as sock:
            sock.settimeout(5)
            sock.connect((address, port))
            sock.send(b"x")
        tried[kind] = "sent"
    except OSError as error:
        tried[kind] = type(error).__name__
try:
    tried["name"] = socket.gethostbyname("example.com")
except OSError as error:
    tried["name"] = "not found"
print(json.dumps(tried))
"""


@contextmanager
def recorder(user, *arguments) -> Iterator[tuple[subprocess.Popen[bytes], dict, list[str]]]:
    """A recorder of this user's, its `ready` event, and what stands before a command inside."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        binary = os.open(find_binary(), os.O_RDONLY)
        program = [*user, f"/proc/self/fd/{binary}"]
        command = [*program, "record", "--out", f"{folder}/site.wacz", *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        try:
            with subprocess.Popen(command, pass_fds=(binary,), cwd="/", **pipes) as process:
                try:
                    assert select.select([process.stdout], [], [], TEST_TIMEOUT_S)[0]
                    ready = json.loads(process.stdout.readline())
                    enter = [find_binary(), "enter", "--pid", str(ready.get("init_pid")), "--"]
                    yield process, ready, enter
                finally:
                    process.kill()
        finally:
            os.close(binary)


def run(prefix, tries):
    command = [*prefix, sys.executable, "-c", INSIDE, json.dumps(tries)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@USERS
def test_inside_there_is_the_proxy_alone(labs, user):
    with (
        socket.create_server(("127.0.0.1", 0)) as ours,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
        recorder(user) as (_, ready, enter),
    ):
        datagrams.bind(("127.0.0.1", 0))
        host, port = ready["address"].split(":")
        tried = run(
            enter,
            {
                "tcp proxy": (host, int(port)),
                "tcp of the machine": ours.getsockname(),
                "tcp outside": ("192.0.2.1", 80),
                "tcp6 outside": ("2001:db8::1", 80),
                "udp outside": ("192.0.2.1", 53),
                "udp6 outside": ("2001:db8::1", 53),
                "udp of the machine": datagrams.getsockname(),
            },
        )
        datagrams.settimeout(0)
        with pytest.raises(BlockingIOError):
            datagrams.recv(100)
        # Nobody of the machine comes to the proxy from outside, root included.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, int(port)), timeout=TEST_TIMEOUT_S)
    assert tried == {
        "devices": ["lo"],
        "tcp proxy": "sent",
        "tcp of the machine": "ConnectionRefusedError",
        "tcp outside": "OSError",
        "tcp6 outside": "OSError",
        "udp outside": "OSError",
        "udp6 outside": "OSError",
        "udp of the machine": "sent",  # to the loopback inside, where nobody is
        "name": "not found",
    }
    assert ready.get("credentials") is None


@USERS
def test_a_killed_recorder_takes_its_network_along(labs, user):
    with recorder(user) as (process, ready, enter):
        sleeper = subprocess.Popen([*enter, "sleep", "600"])
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=TEST_TIMEOUT_S)
        assert sleeper.wait(timeout=TEST_TIMEOUT_S) != 0
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while Path(f"/proc/{ready['init_pid']}").exists():
            assert time.monotonic() < deadline
            select.select([], [], [], 0.01)


def test_a_proxy_for_any_client_has_credentials_of_its_run(labs):
    with recorder((), "--port", "0") as (_, ready, _):
        assert "init_pid" not in ready
        name, password = ready["credentials"].split(":")
        assert name == "eyelevel" and len(password) == 32
        host, port = ready["address"].split(":")
        with socket.create_connection((host, int(port)), timeout=TEST_TIMEOUT_S) as client:
            client.sendall(b"GET http://127.0.0.1:1/ HTTP/1.1\r\nhost: 127.0.0.1:1\r\n\r\n")
            answer = client.recv(4000)
        assert answer.startswith(b"HTTP/1.1 407 ") and b"proxy-authenticate: Basic" in answer
