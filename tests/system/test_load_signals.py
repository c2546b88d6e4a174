"""A load that is ended from outside leaves no process and no folder behind."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from eyelevel.browser.chromium import PROFILE_PREFIX

START_TIMEOUT_S = 60.0

pytestmark = pytest.mark.usefixtures("labs")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_load_leaves_nothing_behind(small_site: Path, number: int) -> None:
    command = [sys.executable, "-m", "eyelevel", "load", str(small_site), "--network", "lte"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    profiles = f"{PROFILE_PREFIX}{process.pid}-*/*"
    deadline = time.monotonic() + START_TIMEOUT_S
    while not list(Path(tempfile.gettempdir()).glob(profiles)):
        assert process.poll() is None and time.monotonic() < deadline
    process.send_signal(number)
    _, said = process.communicate(timeout=START_TIMEOUT_S)
    assert process.returncode == 143 and said.endswith("eyelevel: terminated\n")
    assert not list(Path(tempfile.gettempdir()).glob(f"{PROFILE_PREFIX}{process.pid}-*"))
    left = f"{PROFILE_PREFIX}{process.pid}-".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                assert left not in (folder / "cmdline").read_bytes()
            except OSError:
                continue
