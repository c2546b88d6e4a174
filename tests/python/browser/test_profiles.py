import os
import select
import signal
import sys
import tempfile

import pytest
from background_process import background_process
from timeouts import TEST_TIMEOUT_S

from eyelevel.browser.processes import PROFILE_PREFIX, new_profile

GONE = 2**22 + 1  # above the kernel's largest process id
MARK = "0123abcd-a1b2c3d4"

OWNER = """
import subprocess, sys, tempfile
tempfile.tempdir = sys.argv[1]
from eyelevel.browser.processes import new_profile
with new_profile() as profile:
    # A browser that outlives it, as one outside of a lab does.
    waits = "import signal; print(flush=True); signal.pause()"
    browser = [sys.executable, "-c", waits, str(profile)]
    started = subprocess.Popen(browser, start_new_session=True, stdout=subprocess.PIPE)
    started.stdout.readline()  # it may have no command line yet when Popen returns
    print(profile.name, started.pid, flush=True)
    input()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(folder):
    """Another process with a profile, the profile's name, and its browser's descriptor."""
    with background_process([sys.executable, "-c", OWNER, str(folder)]) as (process, line):
        name, browser = line.split()
        running = os.pidfd_open(int(browser))
        yield process, name, running
    if not ended(running):
        signal.pidfd_send_signal(running, signal.SIGKILL)
    os.close(running)


def ended(process_fd, within_s=0.0):
    return bool(select.select([process_fd], [], [], within_s)[0])


def test_a_profile_goes_with_its_load(folder):
    with new_profile() as profile:
        assert [each.name for each in folder.iterdir()] == [profile.name]
        assert profile.name.startswith(f"{PROFILE_PREFIX}{os.getpid()}-")
    assert not list(folder.iterdir())


def test_what_a_killed_process_left_goes_at_once(folder, owner):
    process, name, browser = owner
    with new_profile():
        assert (folder / name).exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not ended(browser)
    with new_profile() as profile:
        assert [each.name for each in folder.iterdir()] == [profile.name]
        assert ended(browser, TEST_TIMEOUT_S)


def test_a_live_process_keeps_its_profile_whatever_its_number_says(folder, owner):
    # In another container it has a number that is nobody's here; a killed one's is given again.
    _, name, _ = owner
    elsewhere = f"{PROFILE_PREFIX}{GONE}-{MARK}"
    (folder / name).rename(folder / elsewhere)
    with new_profile() as profile:
        assert {each.name for each in folder.iterdir()} == {elsewhere, profile.name}


def test_a_killed_processs_profile_goes_though_its_number_is_anothers(folder, owner):
    process, name, _ = owner
    process.send_signal(signal.SIGKILL)
    process.wait()
    (folder / name).rename(folder / f"{PROFILE_PREFIX}{os.getpid()}-{MARK}")
    with new_profile() as profile:
        assert [each.name for each in folder.iterdir()] == [profile.name]


def test_folders_without_an_owner_go_at_once_and_what_people_named_stays(folder):
    # As a browser that still wrote while its folder was removed leaves one.
    (folder / f"{PROFILE_PREFIX}{GONE}-{MARK}" / "Default").mkdir(parents=True)
    kept = [f"{PROFILE_PREFIX}notes", "else-1-old"]
    for name in kept:
        (folder / name).mkdir()
    with new_profile() as profile:
        assert {each.name for each in folder.iterdir()} == {*kept, profile.name}


def test_nothing_behind_a_link_is_touched(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").touch()
    (folder / f"{PROFILE_PREFIX}1-{MARK}").symlink_to(elsewhere)
    with new_profile():
        assert (elsewhere / "file").exists()
