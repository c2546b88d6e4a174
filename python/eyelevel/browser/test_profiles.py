import os
import tempfile
import time

from eyelevel.browser.chromium import ORPHAN_AGE_S, PROFILE_PREFIX, new_profile

GONE = 2**22 + 1  # above the kernel's largest process id


def test_profiles_of_killed_processes_go_and_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    long_ago = time.time() - 2 * ORPHAN_AGE_S
    kept = [f"{PROFILE_PREFIX}{GONE}-new", f"{PROFILE_PREFIX}{os.getpid()}-old", "else-1-old"]
    for name in (*kept, f"{PROFILE_PREFIX}{GONE}-old"):
        (tmp_path / name).mkdir()
        if name.endswith("old"):
            os.utime(tmp_path / name, (long_ago, long_ago))
    made = new_profile()
    assert {each.name for each in tmp_path.iterdir()} == {*kept, made.name}
