"""The words of a path in other commands: what runs there meets the path that they say."""

import json
import sys
from pathlib import Path

import pytest
from loads import load
from path_command import eyelevel

pytestmark = pytest.mark.usefixtures("labs")

RTT_MS = 120.0
ROUND_TRIP = """
import os, socket, time, urllib.parse
at = urllib.parse.urlsplit(os.environ["EYELEVEL_URL"])
began = time.monotonic()
socket.create_connection((at.hostname, at.port or 443)).close()
print((time.monotonic() - began) * 1e3)
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    trace = tmp_path / "link.trace"
    trace.write_text("1\n2\n3\n")
    up = "rate 5 Mbit/s, queue droptail 100ms"
    return ["--rtt", f"{RTT_MS:g}ms", "--trace-down", str(trace), "--up", up]


@pytest.mark.alone  # a load beside other programs is starved and has no numbers
def test_a_load_meets_the_path_and_its_record_has_all_of_it(
    words: list[str], small_site: Path, tmp_path: Path
) -> None:
    row = load(str(small_site), *words, "--host-wait", "0")
    assert row["network"] == f"rtt {RTT_MS:g}ms + trace-down link.trace + up"
    down, up = (row["network_settings"][f"stages_{way}"] for way in ("down", "up"))
    assert [stage["stage"] for stage in down] == ["delay", "trace"]
    assert [stage["stage"] for stage in up] == ["rate", "delay"]
    assert str(tmp_path) not in json.dumps(row["network_settings"])
    # The handshakes of TCP and TLS, and the request. A starved load has no metric, but its objects.
    assert row["objects"][0]["response_ms"] >= 3 * RTT_MS


def test_a_replayed_command_meets_the_path(words: list[str], small_site: Path) -> None:
    done = eyelevel("replay", str(small_site), *words, "--", sys.executable, "-c", ROUND_TRIP)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) >= RTT_MS


def test_probes_and_stacks_take_them(words: list[str]) -> None:
    done = eyelevel("probe", "lab", *words, "--protocols", "tcp", "--json")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["path_rtt_ms"] == RTT_MS and row["tcp_handshake_us"] >= 1000 * RTT_MS
    done = eyelevel("explain", "stacks", "tcp+", "quic", *words, "--json")
    assert json.loads(done.stdout)["network"].startswith(f"rtt {RTT_MS:g}ms + trace-down")
