"""Temporary folders are private, gone with their process, and nobody else's goes with them."""

import stat
import sys
import tempfile

import pytest
from background_process import background_process

from eyelevel.store.disk import PREFIX, temporary_folder

OWNER = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from eyelevel.store.disk import temporary_folder
with temporary_folder("logs") as folder:
    (folder / "inside").mkdir()
    print(folder.name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def parent(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def owner(parent):
    """Another process with a folder, and the folder's name."""
    with background_process([sys.executable, "-c", OWNER, str(parent)]) as held:
        yield held


def names(folder):
    return {each.name for each in folder.iterdir()}


def test_a_folder_is_private_and_goes_at_the_end(parent):
    with temporary_folder("server") as folder:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert folder.name.startswith(f"{PREFIX}server-")
    assert names(parent) == set()


def test_a_killed_processs_folder_goes_with_the_next_of_any_kind(parent, owner):
    process, name = owner
    with temporary_folder("server") as folder:
        assert names(parent) == {name, folder.name}
    process.kill()
    process.wait()
    assert names(parent) == {name}
    with temporary_folder("server") as folder:
        assert names(parent) == {folder.name}


def test_what_people_named_stays(parent):
    kept = {"eyelevel-tmp-logs", "eyelevel-results", "eyelevel-tmp-logs-12345678.zip"}
    for name in kept:
        (parent / name).mkdir()
    with temporary_folder("logs"):
        pass
    assert names(parent) == kept


def test_nothing_behind_a_link_is_touched(parent, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "file").touch()
    (parent / f"{PREFIX}logs-abcd1234").symlink_to(elsewhere)
    with temporary_folder("logs"):
        assert (elsewhere / "file").exists()
