"""Shells in shells: what a command meets inside a path inside a path or a replay."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from ordinary_user import as_nobody
from path_command import COMMAND, ECHO, eyelevel, needs_root
from raw_lab import NOBODY
from shells import GET, get, run_inside, said, shell
from small_site import PAGE_URL, pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.pathlog import RELEASE, read_log, read_records
from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Lab

pytestmark = pytest.mark.usefixtures("labs")

BODY_BYTES = 300_000
BODIES = {"": ("application/octet-stream", bytes(BODY_BYTES))}
RATE_BIT_S = 4_000_000
ADDRESSES = {4: "192.0.2.10", 6: "2001:db8::10"}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A site of one body, recorded over IPv4 and over IPv6."""
    made = {family: tmp_path_factory.mktemp(f"v{family}") for family in ADDRESSES}
    return {
        family: pack_small_site(folder, BODIES, address=ADDRESSES[family])
        for family, folder in made.items()
    }


@pytest.fixture
def everybodys() -> Iterator[Path]:
    """A folder that other users may enter, which those of a test are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def authority(lab: Lab, folder: Path) -> str:
    file = folder / "ca.pem"
    file.write_text(lab.ready.ca_certificate or "")
    return str(file)


@pytest.mark.parametrize("family", ADDRESSES)
@pytest.mark.parametrize(("stack", "http"), [("tcp+", "h2"), ("quic", "h3")])
def test_a_command_behind_a_path_in_a_replay_reaches_its_servers_through_it(
    new_lab: Callable[..., Lab],
    sites: dict[int, Path],
    tmp_path: Path,
    stack: str,
    http: str,
    family: int,
):
    log = tmp_path / "log"
    words = ["--rtt", "100ms", "--down", f"rate {RATE_BIT_S / 1e6} Mbit/s", "--log", str(log)]
    with new_lab(stack, site=sites[family]) as lab:
        command = get(PAGE_URL, authority(lab, tmp_path), http, family)
        found = said(run_inside(lab, shell(*words), command))
        summary = lab.stop()
    assert found["address"] == ADDRESSES[family]
    assert found["body_bytes"] == BODY_BYTES
    # Never faster than the path: two round trips of TCP and TLS, one of QUIC, one for the answer.
    assert found["connect_ms"] >= (200 if http == "h2" else 100)
    assert found["first_byte_ms"] >= 100
    # What the servers sent came through the inner path, and at its rate.
    down = read_log((log / "down.log").read_bytes(), "down.log")
    assert down.departed_bytes.sum() > BODY_BYTES
    last_bit = 8 * down.departed_bytes[1:].sum()
    assert down.departed_s[-1] - down.departed_s[0] >= last_bit / RATE_BIT_S * 0.999
    assert [request["status"] for request in summary.requests] == [200]
    # The client is the one that the stack is set for, however many shells further in.
    (connection,) = summary.connections
    if http == "h2":
        assert connection["in_force"]["receive_window_bytes"] > 15_000_000


def releases(file: Path) -> np.ndarray:
    records = read_records(file.read_bytes(), file.name)[1]
    return records[records["kind"] == RELEASE]


def test_each_packet_meets_all_shells_between(tmp_path: Path):
    """Through paths in paths: what one releases is what the next one gets, in both directions."""
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "send.py").write_text(
        "import os, socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.settimeout(60)\n"
        "for size in range(1, 31):\n"
        "    s.sendto(b'x' * size, (os.environ['OUTERMOST'], 7))\n"
        "    assert len(s.recv(100)) == size\n"
    )
    far = f"{sys.executable} {tmp_path}/echo.py"
    inner = shell("--rtt", "4ms", "--log", str(tmp_path / "b"))
    innermost = shell("--rtt", "2ms", "--log", str(tmp_path / "c"))
    words = [*inner, *innermost, sys.executable, str(tmp_path / "send.py")]
    quoted = " ".join(f"'{word}'" for word in words)
    done = eyelevel(
        "path", "--rtt", "6ms", "--log", str(tmp_path / "a"), "--far", far, "--",
        "sh", "-c", f"OUTERMOST=$EYELEVEL_FAR {quoted}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for way, order in (("up", "cba"), ("down", "abc")):
        through = [releases(tmp_path / path / f"{way}.log") for path in order]
        sizes = [each["wire_bytes"].tolist() for each in through]
        assert sizes[0] == sizes[1] == sizes[2] == [28 + size for size in range(1, 31)]
        # All clocks are one: no packet leaves a path before it came from the one before.
        for before, after, delay_ms in zip(through, through[1:], (2, 3, 1), strict=False):
            least_ns = 1e6 * (delay_ms if way == "up" else min(delay_ms, 1))
            assert (after["at_ns"] >= before["at_ns"] + least_ns).all()


def test_paths_that_are_made_at_once_in_one_replay_keep_apart(
    new_lab: Callable[..., Lab], sites: dict[int, Path], tmp_path: Path
):
    with new_lab(site=sites[4]) as lab:
        command = [*shell("--rtt", "2ms"), *get(PAGE_URL, authority(lab, tmp_path))]
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in command)
        # A file each, since two that print at once may mix their lines.
        files = [tmp_path / f"{number}.json" for number in range(4)]
        together = " & ".join(f"{quoted} >'{file}'" for file in files)
        done = run_inside(lab, ["sh", "-c", f"{together} & wait"])
        summary = lab.stop()
    found = [json.loads(file.read_text()) for file in files]
    assert [each["body_bytes"] for each in found] == [BODY_BYTES] * 4, done.stderr
    assert len(summary.requests) == 4


def test_translation_between_shells_forgets_no_connection(new_lab: Callable[..., Lab]):
    """Whatever a path loses, holds back or reorders: the kernel's defaults drop some of it."""
    names = ["nf_conntrack_tcp_be_liberal", "nf_conntrack_udp_timeout"]
    places = " ".join(f"/proc/sys/net/netfilter/{name}" for name in names)
    with new_lab() as lab:
        done = run_inside(lab, ["sh", "-c", f'"$@" true; cat {places}', "sh"], shell())
    assert done.stdout.split() == ["1", "86400"], done.stderr


def test_a_way_out_that_nothing_around_has_is_refused_in_one_line(new_lab: Callable[..., Lab]):
    with new_lab() as lab:
        done = run_inside(lab, shell("--internet"), ["true"])
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "no way out" in done.stderr


@needs_root
def test_shells_nest_without_root(everybodys: Path):
    binary = everybodys / "eyelevel-lab"
    shutil.copy(find_binary(), binary)
    inner = f"{binary} shell --rtt 2ms -- sh -c"
    outer = [*NOBODY, str(binary), "shell", "--rtt", "2ms", "--", "sh", "-c"]
    # Nobody listens there: the outer far end itself says so, over either protocol.
    ask = f"{binary} bulk --url http://x/ --http h1 --ca /dev/null --bytes-max 1"
    ask += " --duration-ms 9000 --to"
    check = f"{ask} $EYELEVEL_OUTER_FAR:9; {ask} [$EYELEVEL_OUTER_FAR6]:9"
    done = subprocess.run(
        [*outer, f"{inner} '{check}'"],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.stderr.count("refused") == 2, done.stderr


@needs_root
def test_a_path_in_a_replay_needs_no_root(sites: dict[int, Path], everybodys: Path):
    """The whole command of an ordinary user: from the replay's servers through two paths."""
    site = everybodys / "site.wacz"
    shutil.copy(sites[4], site)
    site.chmod(0o644)
    (everybodys / "stash").mkdir()
    asked = 'import os, sys; os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], "4", '
    asked += f'os.environ["EYELEVEL_URL"], "h2", os.environ["EYELEVEL_CA"], {find_binary()!r}])'
    inside = [*shell("--rtt", "60ms"), *shell("--rtt", "40ms"), sys.executable, "-c", asked, GET]
    done = subprocess.run(
        [
            *as_nobody(everybodys / "stash"),
            *COMMAND,
            "replay",
            str(site),
            "--network",
            "unshaped",
            "--",
            *inside,
        ],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        cwd="/",
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": "/"},
    )
    found = said(done)
    assert (found["address"], found["body_bytes"]) == (ADDRESSES[4], BODY_BYTES)
    assert found["connect_ms"] >= 200 and found["first_byte_ms"] >= 100
    assert "requests over tcp+ on unshaped: 1, of which 0 are not in the recording" in done.stderr


# In a network of its own, which has an address and forwards, as a host on the Internet does.
OUTSIDE = """
import subprocess, sys
from pathlib import Path
subprocess.run("ip link set lo up; ip addr add 198.51.100.1/32 dev lo", shell=True, check=True)
Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""
# A connection to where nothing listens is refused after one round trip.
REFUSED = """
import errno, socket, time
began_s = time.monotonic()
assert socket.socket().connect_ex(("198.51.100.1", 9)) == errno.ECONNREFUSED
print(1000 * (time.monotonic() - began_s))
"""


@needs_root
@pytest.mark.parametrize("again", [["--internet"], []])
def test_paths_in_a_path_to_the_internet_lead_there_through_all(tmp_path: Path, again: list[str]):
    logs = {rtt_ms: tmp_path / f"{rtt_ms}" for rtt_ms in (20, 30, 50)}
    words: list[str] = []
    for (rtt_ms, log), way_out in zip(logs.items(), (["--internet"], again, again), strict=True):
        words += shell("--rtt", f"{rtt_ms}ms", "--log", str(log), *way_out)
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", OUTSIDE, *words, sys.executable, "-c", REFUSED],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= 100
    # One segment up and its refusal down, on each of them.
    for log in logs.values():
        assert [len(releases(log / f"{way}.log")) for way in ("up", "down")] == [1, 1]
