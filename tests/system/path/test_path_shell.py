"""`eyelevel path` as a user runs it: real namespaces, a command inside, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from marked import OWN_NAMESPACE, Mark
from path_command import COMMAND, ECHO, eyelevel
from timeouts import TEST_TIMEOUT_S

from eyelevel.analysis.pathlog import DROP, RECORD, read_log
from eyelevel.lab.binary import run_tool

pytestmark = pytest.mark.usefixtures("labs")


# Prints the round trip of one UDP packet to the far end's echo, in ms; argument: the address.
PING = """
import socket, sys, time
address = sys.argv[1]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
with socket.socket(family, socket.SOCK_DGRAM) as s:
    s.settimeout(20)
    began = time.monotonic()
    s.sendto(b"x", (address, 7))
    s.recv(1)
    print((time.monotonic() - began) * 1e3)
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "ping.py").write_text(PING)
    (tmp_path / "echo.py").write_text(ECHO)
    return tmp_path


def test_the_exit_status_and_the_output_are_the_commands():
    done = eyelevel("path", "--rtt", "2ms", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    assert eyelevel("path", "sh", "-c", "kill -9 $$").returncode == 128 + signal.SIGKILL


def test_without_a_command_the_users_shell_runs(tmp_path):
    shell = tmp_path / "shell"
    shell.write_text("#!/bin/sh\necho a shell at $EYELEVEL_FAR\n")
    shell.chmod(0o755)
    assert eyelevel("path", SHELL=str(shell)).stdout.startswith("a shell at 100.")


@pytest.mark.parametrize("variable", ["EYELEVEL_FAR", "EYELEVEL_FAR6"])
def test_the_far_end_is_up_before_the_command_and_the_path_lies_between(scripts, variable):
    done = eyelevel(
        "path", "--rtt", "60ms", "--far", f"{sys.executable} {scripts}/echo.py", "--",
        "sh", "-c", f"{sys.executable} {scripts}/ping.py ${variable}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Never faster than the path; how much slower, the machine decides.
    assert float(done.stdout) >= 60


def test_paths_nest(scripts):
    inner = " ".join(f"'{word}'" for word in COMMAND)
    inner += f" path --rtt 2ms --far '{sys.executable} {scripts}/echo.py' -- "
    inner += f"sh -c '{sys.executable} {scripts}/ping.py $EYELEVEL_FAR; echo $EYELEVEL_OUTER_FAR'"
    done = eyelevel("path", "--rtt", "40ms", "--", "sh", "-c", f"echo $EYELEVEL_FAR; {inner}")
    assert done.returncode == 0, done.stderr
    far, rtt_ms, outer = done.stdout.split()
    assert outer == far and float(rtt_ms) >= 2


def test_nothing_is_left_behind(scripts):
    mark, far = Mark(), f"{sys.executable} {scripts}/echo.py"
    place = scripts / "namespace"
    command = f"readlink /proc/self/ns/net > {place}; exit 3"
    done = eyelevel("path", "--far", far, "--", "sh", "-c", command, **mark.environment)
    assert done.returncode == 3
    assert place.read_text().strip() != OWN_NAMESPACE and not mark.processes()


def test_ctrl_c_ends_the_command_and_leaves_nothing_behind(tmp_path):
    place, mark = tmp_path / "namespace", Mark()
    os.mkfifo(place)
    process = subprocess.Popen(
        [*COMMAND, "path", "--far", "sleep 1000", "--", "sh", "-c",
         f"readlink /proc/self/ns/net > {place}; exec sleep 1000"],
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | mark.environment,
    )  # fmt: skip
    # Reading the pipe waits until the command has opened it: it runs by then.
    assert place.read_text().strip() != OWN_NAMESPACE and mark.processes()
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=TEST_TIMEOUT_S) == 128 + signal.SIGINT
    assert not mark.processes()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--down", "loss 2"], "eyelevel: --down: clause 1"),
        (["--up", "delay 1ms, rate 0 Mbit/s"], "eyelevel: --up: clause 2"),
        (["--up", "delya 3ms"], 'unknown stage "delya"'),
        (["--rtt", "40"], "eyelevel: --rtt: "),
        (["--network", "ltee"], "did you mean `lte`?"),
        (["--network", "lte", "--rtt", "40ms"], "a network has a round trip of its own"),
        (["--traces", "x"], "eyelevel: --traces x: say whose recordings you mean"),
        (["--trace-down", "/no/such"], "eyelevel: --trace-down: /no/such: "),
        (["--watch"], "give the command to watch"),
        (["--log", "/dev/null/x"], "/dev/null/x"),
    ],
)
def test_bad_input_is_one_line_and_nothing_runs(tmp_path, options, expected):
    ran = tmp_path / "ran"
    command = ["touch", str(ran)] if options != ["--watch"] else []
    done = eyelevel("path", *options, *command)
    assert done.returncode == 1
    assert expected in done.stderr and done.stderr.count("\n") == 1
    assert done.stdout == "" and not ran.exists()


def test_a_malformed_trace_is_named_with_its_line(tmp_path):
    trace = tmp_path / "bad trace, with signs"
    trace.write_text("5\n9\n7\n")
    done = eyelevel("path", "--trace-up", str(trace), "true")
    assert done.returncode == 1 and f"{trace}:3: " in done.stderr


def test_the_log_tells_the_path_and_is_plotted(tmp_path, scripts):
    folder = tmp_path / "log"
    done = eyelevel(
        "path", "--down", "delay 3ms, rate 8 Mbit/s, queue droptail 50ms", "--log", str(folder),
        "--far", f"{sys.executable} {scripts}/echo.py", "--",
        "sh", "-c", f"{sys.executable} {scripts}/ping.py $EYELEVEL_FAR",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    log = read_log((folder / "down.log").read_bytes(), "down.log")
    # One byte of UDP over IPv4 is 29 bytes, 29 µs at 8 Mbit/s.
    sent = log.departed_bytes == 29
    assert sent.sum() == 1
    assert np.isclose(log.delay_ms[sent][0], 29 * 8 / 8000)
    assert run_tool(["path-check", str(folder / "down.log")])["differences"] == []
    plotted = eyelevel("path", "plot", str(folder), "--json")
    assert plotted.returncode == 0, plotted.stderr
    found = json.loads(plotted.stdout)
    assert Path(found["chart"]).read_text().startswith("<svg")
    assert [each["direction"] for each in found["directions"]] == ["down", "up"]
    png = tmp_path / "chart.png"
    assert eyelevel("path", "plot", str(folder / "up.log"), "--out", str(png)).returncode == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_folder_without_logs_and_a_foreign_file_are_refused(tmp_path):
    (tmp_path / "x.log").write_text("what is this\n")
    for place in (tmp_path, tmp_path / "x.log"):
        done = eyelevel("path", "plot", str(place))
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
        assert str(place) in done.stderr


def test_the_live_view_passes_the_output_on():
    done = eyelevel("path", "--rtt", "2ms", "--watch", "--", "sh", "-c", "echo one; exit 5")
    assert done.returncode == 5 and "one\n" in done.stdout


def test_the_same_seed_gives_the_same_losses(tmp_path, scripts):
    fates = []
    for run in ("a", "b"):
        folder = tmp_path / run
        command = [
            "path", "--up", "loss 30%", "--seed", "9", "--log", str(folder), "--",
            sys.executable, "-c",
            "import os, socket\n"
            "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            "for _ in range(200): s.sendto(b'x', (os.environ['EYELEVEL_FAR'], 9))\n",
        ]  # fmt: skip
        assert eyelevel(*command).returncode == 0
        records = np.frombuffer((folder / "up.log").read_bytes().split(b"\n", 1)[1], RECORD)
        dropped = records[records["kind"] == DROP]["packet"]
        # The kernel may add packets of its own; a loss belongs to the place among all arrivals.
        fates.append([number for number in dropped.tolist() if number < 200])
    assert fates[0] == fates[1] and 30 < len(fates[0]) < 90
