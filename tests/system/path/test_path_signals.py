"""Signals to `eyelevel path` are the command's, and nothing of the path stays."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from marked import OWN_NAMESPACE, Mark
from path_command import COMMAND, needs_root
from timeouts import TEST_TIMEOUT_S

pytestmark = pytest.mark.usefixtures("labs")

HEARS_ALL = ("env", "--default-signal")
"""What nohup, or a shell's background, has ignored would be the command's to ignore, too."""

# Says on the pipe where it stands, then waits; TERM is handled.
HANDLES = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
with open(sys.argv[1], "w") as pipe:
    pipe.write(os.readlink("/proc/self/ns/net"))
signal.sigwait({signal.SIGTERM})
sys.exit(9)
"""


def start(pipe: Path, mark: Mark, command: list[str], *options: str) -> subprocess.Popen[bytes]:
    """The shell with a far command; it has a session of its own, as from a service manager."""
    os.mkfifo(pipe)
    return subprocess.Popen(
        [*HEARS_ALL, *COMMAND, "path", *options, "--far", "sleep 1000", "--", *command],
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | mark.environment,
    )


def waiting(pipe: Path) -> list[str]:
    return ["sh", "-c", f"readlink /proc/self/ns/net > {pipe}; exec sleep 1000"]


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL]
)
def test_a_signal_ends_the_command_and_leaves_nothing_behind(tmp_path, number):
    pipe, mark = tmp_path / "pipe", Mark()
    process = start(pipe, mark, waiting(pipe))
    assert pipe.read_text().strip() != OWN_NAMESPACE and mark.processes()
    process.send_signal(number)
    status = process.wait(timeout=TEST_TIMEOUT_S)
    assert status == (-number if number == signal.SIGKILL else 128 + number)
    if number == signal.SIGKILL:  # nobody is left to wait for the kernel's own clearing away
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while mark.processes() and time.monotonic() < deadline:
            select.select([], [], [], 0.01)
    assert not mark.processes()


def test_what_the_command_makes_of_a_signal_is_its_own(tmp_path):
    pipe, mark = tmp_path / "pipe", Mark()
    process = start(pipe, mark, [sys.executable, "-c", HANDLES, str(pipe)], "--watch")
    assert pipe.read_text().strip() != OWN_NAMESPACE
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=TEST_TIMEOUT_S) == 9
    assert not mark.processes()


@needs_root
def test_the_way_out_goes_with_a_signal(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [*HEARS_ALL, *COMMAND, "path", "--internet", "--", *waiting(pipe)]
    script = f"""
import subprocess, signal, time
from pathlib import Path
def out(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout
Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
process = subprocess.Popen({words!r})
Path({str(pipe)!r}).read_text()
print(out("ip", "-o", "link").count("eyl"))
process.send_signal(signal.SIGTERM)
status, until_s = process.wait(), time.monotonic() + {TEST_TIMEOUT_S}
# The kernel takes a device away some time after its namespace's last process has ended.
while out("ip", "-o", "link").count("eyl") and time.monotonic() < until_s:
    pass
print(status, out("ip", "-o", "link").count("eyl"), len(out("ip", "route")))
"""
    done = subprocess.run(
        ["unshare", "--net", sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.split() == ["1", "143", "0", "0"], done.stderr
