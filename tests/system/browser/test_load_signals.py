"""A load that is ended from outside leaves no process and no folder behind."""

import contextlib
import functools
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.browser.processes import PROFILE_PREFIX, new_profile

pytestmark = pytest.mark.usefixtures("labs")


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed load leaves goes with the next load, and tests beside this one have theirs."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


# The command, ended at the one moment when its browser runs and it does not know of it yet.
ENDED_WHILE_STARTING = """
import os, signal, sys
start = os.posix_spawnp
def start_and_end(*args, **options):
    pid = start(*args, **options)
    os.kill(os.getpid(), signal.SIGTERM)
    return pid
os.posix_spawnp = start_and_end
from eyelevel.cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_load_leaves_nothing_behind(small_site: Path, number: int) -> None:
    # Below nohup it is ignored, and stays so, as it should.
    heard = functools.partial(signal.signal, number, signal.SIG_DFL)
    process = _load_with_browser(small_site, preexec_fn=heard)
    process.send_signal(number)
    _, said = process.communicate(timeout=TEST_TIMEOUT_S)
    _ended_in_order(process, said)


def test_what_a_killed_load_left_goes_with_the_next(small_site: Path) -> None:
    process = _load_with_browser(small_site)
    process.kill()
    process.communicate(timeout=TEST_TIMEOUT_S)
    assert _profiles(process, "browser.log")
    # The kernel ends what a killed command started in its own time; who still runs has its folder.
    deadline = time.monotonic() + TEST_TIMEOUT_S
    while _processes(process):
        assert time.monotonic() < deadline
        select.select([], [], [], 0.02)
    with new_profile():
        assert not _profiles(process)


def test_a_load_that_is_terminated_while_its_browser_starts(small_site: Path) -> None:
    command = [sys.executable, "-c", ENDED_WHILE_STARTING]
    command += ["load", str(small_site), "--network", "lte"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    _, said = process.communicate(timeout=TEST_TIMEOUT_S)
    _ended_in_order(process, said)


def _load_with_browser(site: Path, **more: Any) -> subprocess.Popen[str]:
    """A load whose browser runs."""
    command = [sys.executable, "-m", "eyelevel", "load", str(site), "--network", "lte"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **more)
    deadline = time.monotonic() + TEST_TIMEOUT_S
    # Its log is there a moment before it: until then a child of the command's name has the folder.
    while not (_profiles(process, "browser.log") and _processes(process)):
        assert process.poll() is None and time.monotonic() < deadline
    return process


def _profiles(process: subprocess.Popen[str], file: str = "") -> list[Path]:
    """Its profiles, or a file in them."""
    return list(Path(tempfile.gettempdir()).glob(f"{PROFILE_PREFIX}{process.pid}-*/{file}"))


def _ended_in_order(process: subprocess.Popen[str], said: str) -> None:
    assert process.returncode == 143 and said.endswith("eyelevel: terminated\n")
    _nothing_left(process)


def _nothing_left(process: subprocess.Popen[str]) -> None:
    assert not _profiles(process)
    assert not _processes(process)


def _processes(process: subprocess.Popen[str]) -> list[str]:
    """Those whose command line has a profile of its load."""
    named = f"{PROFILE_PREFIX}{process.pid}-".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if named in (folder / "cmdline").read_bytes():
                    found.append(folder.name)
    return found
