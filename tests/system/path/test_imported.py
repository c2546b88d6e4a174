"""What `eyelevel trace import` prints is a path whose packets take as long as recorded."""

import re
import sys
from pathlib import Path

import pytest
from path_command import ECHO, eyelevel

from eyelevel.lab.binary import run_tool

pytestmark = pytest.mark.usefixtures("labs")

DELAY_MS = 20
LIGHT = "".join(f"{200 * n} {DELAY_MS + n % 5} 0 1 1 2\n" for n in range(31))
HEAVY = "".join(f"{at}\n" for at in range(1, 6001))
SERIES = "time_s,rtt_ms,down_mbps,up_mbps\n0,40,10,2\n5,40,10,2\n"

PINGS = """
import os, socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    s.settimeout(20)
    for _ in range(5):
        began = time.monotonic()
        s.sendto(b"x" * 1400, (os.environ["EYELEVEL_FAR"], 7))
        s.recv(2000)
        print((time.monotonic() - began) * 1e3)
"""


@pytest.mark.parametrize("files", [{"light": LIGHT, "heavy": HEAVY}, {"series.csv": SERIES}])
def test_what_is_printed_is_a_path(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in {**files, "echo.py": ECHO, "pings.py": PINGS}.items():
        (tmp_path / name).write_text(text)
    inputs = [str(tmp_path / name) for name in files]
    done = eyelevel("trace", "import", *inputs, "--out", str(tmp_path / "imported"))
    assert done.returncode == 0, done.stderr
    stages = re.findall(r'"(.+)"', done.stdout)
    down, up = stages[0], stages[-1]
    done = eyelevel(
        "path", "--down", down, "--up", up, "--log", str(tmp_path / "log"),
        "--far", f"{sys.executable} {tmp_path}/echo.py", "--", sys.executable,
        str(tmp_path / "pings.py"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    round_trips_ms = [float(line) for line in done.stdout.split()]
    assert len(round_trips_ms) == 5 and min(round_trips_ms) >= 2 * DELAY_MS
    for way in ("down", "up"):
        checked = run_tool(["path-check", str(tmp_path / "log" / f"{way}.log")], accept=(0, 2))
        assert checked["differences"] == [] and checked["arrivals"] == 5
