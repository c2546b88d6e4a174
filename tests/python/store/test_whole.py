"""A file is whole under its name or not there; what is beside it has an owner or goes."""

import os
import stat
import sys
import tempfile

import pytest
from background_process import background_process

from eyelevel.store.disk import (
    DRAFT_PREFIX,
    STEPS,
    watch_steps,
    whole_file,
    write_synced,
    write_whole,
)

WRITER = """
import os, sys
from pathlib import Path
from eyelevel.store.disk import whole_file
with whole_file(Path(sys.argv[1])) as stream:
    print(Path(stream.name).name, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def writer(tmp_path):
    """Another process in the midst of writing `tmp_path / "file"`, and its draft's name."""
    with background_process([sys.executable, "-c", WRITER, str(tmp_path / "file")]) as held:
        yield held


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_file_goes_through_the_named_steps_and_nothing_stays_beside_it(tmp_path):
    seen = []
    with watch_steps(seen.append):
        write_whole(tmp_path / "file", b"whole")
    assert tuple(seen) == STEPS
    assert names(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"whole"


def test_an_error_leaves_the_file_as_it_was(tmp_path):
    write_whole(tmp_path / "file", b"old")
    with pytest.raises(ValueError, match="no more"), whole_file(tmp_path / "file") as stream:
        stream.write(b"half")
        raise ValueError("no more")
    assert names(tmp_path) == ["file"] and (tmp_path / "file").read_bytes() == b"old"


def test_what_is_not_whole_is_private_and_what_is_whole_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        with whole_file(tmp_path / "file") as stream:
            assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    finally:
        os.umask(before)


def test_what_a_live_process_writes_stays_and_what_a_killed_one_left_goes(tmp_path, writer):
    process, draft = writer
    write_whole(tmp_path / "file", b"ours")
    assert names(tmp_path) == [draft, "file"]
    process.kill()
    process.wait()
    write_whole(tmp_path / "another", b"")
    assert draft in names(tmp_path), "only who writes the same file looks"
    write_whole(tmp_path / "file", b"again")
    assert names(tmp_path) == ["another", "file"]


def test_no_link_is_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_bytes(b"kept")
    # Even if the random part were guessed.
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: iter(["guessed1", "unknown1"]))
    (tmp_path / f"{DRAFT_PREFIX}file-guessed1").symlink_to(victim)
    write_whole(tmp_path / "file", b"ours")
    assert victim.read_bytes() == b"kept"
    with pytest.raises(FileExistsError):
        write_synced(tmp_path / f"{DRAFT_PREFIX}file-guessed1", b"not through it")
    assert victim.read_bytes() == b"kept"


@pytest.mark.parametrize("is_new", [False, True])
def test_a_file_is_on_the_disk_before_its_name_and_its_name_before_the_end(
    tmp_path, monkeypatch, is_new
):
    """A power failure then leaves the file as it was or whole; a killed process shows neither."""
    target = tmp_path / "file"
    events = []
    fsync = os.fsync

    def synced(descriptor):
        at = os.fstat(descriptor)
        if stat.S_ISDIR(at.st_mode):
            events.append("directory" if target.exists() else "directory without the file")
        else:
            events.append(("file", at.st_size, target.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    write_whole(target, b"four", is_new=is_new)
    assert events == [("file", 4, False), "directory"]
