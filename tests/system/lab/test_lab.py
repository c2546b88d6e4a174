"""A lab's walls: nothing leaves it, two do not meet, and nothing of it stays behind."""

import itertools
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import CORPUS, FAST, RECORDINGS, run_in
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import LabError
from eyelevel.lab.binary import find_binary, run_tool
from eyelevel.lab.client import Lab
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME

OUTSIDE = ("1.1.1.1", "192.168.0.1", "10.0.0.1", "169.254.169.254")


# Prints how connecting to an address and port within some seconds ended: "connected", or the
# error's kind.
CONNECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=float(sys.argv[3]))
    print("connected")
except OSError as error:
    print(type(error).__name__)
"""


DISCIPLINES: dict[str | None, str | None] = {"tun": "pfifo_fast", "veth": None}
"""The queueing discipline of each kind of device, whatever the host's default is."""


def config_line(site: str | None = str(CORPUS / "agency.wacz")) -> bytes:
    value = {
        "site": site,
        "stack": lab_stack(STACKS_BY_NAME["tcp+"], FAST) if site else None,
        "path": lab_path(FAST),
        "seed": 1,
    }
    return json.dumps(value).encode() + b"\n"


def test_no_address_outside_answers(new_lab: Callable[..., Lab]) -> None:
    with new_lab() as lab:
        listing = run_in(lab, "cat", "/proc/net/dev").stdout.splitlines()[2:]
        assert {line.split(":")[0].strip() for line in listing} <= {"lo", "lab0", "lab0-port"}
        for address in (*OUTSIDE, *_own_addresses()):
            for port in (53, 80, 443):
                tried = run_in(lab, sys.executable, "-c", CONNECT, address, str(port), "0.3")
                assert tried.stdout.strip() in ("TimeoutError", "OSError"), f"{address}: {tried}"
        resolved = run_in(lab, "getent", "hosts", "example.com")
        assert resolved.returncode == 2, resolved


def test_recorded_names_and_addresses_answer(new_lab: Callable[..., Lab]) -> None:
    with new_lab() as lab:
        for origin in lab.ready.origins:
            found = run_in(lab, "getent", "ahostsv4", origin["host"])
            assert origin["address"] in found.stdout, origin
        summary = lab.stop()
    assert summary.path is not None
    # Names are answered on the client's own side: the path has not seen a packet.
    assert summary.path["up"]["packets"] == 0


def test_two_labs_do_not_see_each_other(new_lab: Callable[..., Lab]) -> None:
    with new_lab() as first, new_lab(site=CORPUS / "creative.wacz") as second:
        theirs = {o["host"] for o in second.ready.origins} - {
            o["host"] for o in first.ready.origins
        }
        assert theirs
        for host in theirs:
            assert run_in(first, "getent", "hosts", host).returncode == 2
        assert second.ready.init_pid != first.ready.init_pid
        processes = run_in(first, "ls", "/proc").stdout.split()
        assert sum(name.isdigit() for name in processes) <= 4  # process 1, ls and what runs it
        first.stop()
        host = second.ready.origins[0]["host"]
        tried = run_in(second, sys.executable, "-c", CONNECT, host, "443", "15")
        assert tried.stdout.strip() == "connected", tried


def test_a_device_has_its_discipline_whatever_the_hosts_is(new_lab: Callable[..., Lab]) -> None:
    # Where only root may open TUN, the lab without root below has a veth pair.
    with new_lab() as lab:
        assert lab.ready.queueing_discipline == DISCIPLINES[lab.ready.device]


@pytest.mark.parametrize("way", ["stop", "end of input", "SIGINT", "SIGTERM", "SIGKILL"])
def test_nothing_is_left_behind(way: str, labs: None) -> None:
    with subprocess.Popen(
        [find_binary(), "up"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(config_line())
        process.stdin.flush()
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "ready", ready
        inside = [
            find_binary(), "enter", "--pid", str(ready["init_pid"]), "--", "sleep", "600",
        ]  # fmt: skip
        with subprocess.Popen(inside) as sleeper:
            if way == "stop":
                process.stdin.write(b'{"command": "stop"}\n')
                process.stdin.flush()
            elif way == "end of input":
                process.stdin.close()
            else:
                process.send_signal(getattr(signal, way))
            assert process.wait(TEST_TIMEOUT_S) == (-signal.SIGKILL if way == "SIGKILL" else 0)
            # What ran inside ended with the lab.
            assert sleeper.wait(TEST_TIMEOUT_S) != 0
        _wait_until_gone(ready["init_pid"])
        rest = process.stdout.read()
        assert (b'"summary"' in rest) == (way != "SIGKILL")


def test_a_lab_dies_with_whoever_started_it(labs: None) -> None:
    """The parent is killed: the end of its pipes is all that the lab learns, and enough."""
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([{find_binary()!r}, 'up'], stdin=subprocess.PIPE)\n"
        f"p.stdin.write({config_line()!r}); p.stdin.flush()\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        ready = json.loads(parent.stdout.readline())
        parent.kill()
    _wait_until_gone(ready["init_pid"])


def test_errors_come_before_namespaces(labs: None, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.wacz"
    damaged.write_bytes((CORPUS / "agency.wacz").read_bytes()[:-1000])
    for line, expected in (
        (config_line(str(damaged)), "damaged.wacz"),
        (b'{"path": {"down": [], "up": [{"stage": "lag"}]}, "seed": 1}\n', "lag"),
        (b"\n", "configuration"),
    ):
        done = subprocess.run(
            [find_binary(), "up"],
            input=line,
            capture_output=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 1
        (event,) = [json.loads(each) for each in done.stdout.splitlines()]
        assert event["event"] == "error" and expected in event["message"], event


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody without privileges")
def test_a_lab_needs_no_root(labs: None) -> None:
    # Its binary may lie where nobody may look, so it is started through a descriptor of ours.
    binary = os.open(find_binary(), os.O_RDONLY)
    command = [
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
        f"/proc/self/fd/{binary}", "up",
    ]  # fmt: skip
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=(binary,),
        cwd="/",
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(config_line(None))
        process.stdin.flush()
        assert select.select([process.stdout], [], [], TEST_TIMEOUT_S)[0]
        ready = json.loads(process.stdout.readline())
        assert ready["event"] == "ready", ready
        may = resource.getrlimit(resource.RLIMIT_RTPRIO)[0] >= 2
        assert (ready["realtime_priority"], ready["server_realtime_priority"]) == (may, may)
        assert ready["queueing_discipline"] == DISCIPLINES[ready["device"]]
        process.stdin.close()
        assert process.wait(TEST_TIMEOUT_S) == 0
        assert b'"summary"' in process.stdout.read()


@pytest.mark.parametrize("name", ["wikipedia", "baidu", "youtube", "reddit"])
def test_real_recordings_come_back_byte_for_byte(name: str) -> None:
    file = RECORDINGS / f"{name}-2018.warc.gz"
    if not file.exists():
        pytest.skip("the real recordings (../shared/data/sites/warc) are absent")
    found = run_tool(["archive", "check", str(file)])
    assert [each["protocol"] for each in found["protocols"]] == ["http/1.1", "h2", "h3"]
    for each in found["protocols"]:
        assert each["compared"] > 0 and each["differences"] == [], each


def test_an_unknown_site_is_one_clear_line() -> None:
    with pytest.raises(LabError, match=r"nowhere\.wacz"):
        run_tool(["archive", "info", "nowhere.wacz", "--json"])


def _own_addresses() -> list[str]:
    """The IPv4 addresses that this machine has outside of the lab."""
    lines = [line.strip() for line in Path("/proc/net/fib_trie").read_text().splitlines()]
    own = {a.split()[-1] for a, b in itertools.pairwise(lines) if b == "/32 host LOCAL"}
    return sorted(address for address in own if not address.startswith("127."))


def _wait_until_gone(pid: int) -> None:
    """Waits for the process to end, or be no more than an entry that init has yet to clear."""
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state in "ZX":
            return
        select.select([], [], [], 0.01)
    pytest.fail(f"process {pid} of the lab is still there")
