"""Two runs in one directory: the second is refused in one line, and loses nothing."""

import re
import subprocess
import sys

import pytest

from eyelevel.base.errors import StoreError
from eyelevel.store.claim import claim

HOLDER = """
import sys
from pathlib import Path
from eyelevel.store.claim import claim
claim(Path(sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path):
    """A directory that another process writes to, what ends that process, and its number."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "claimed\n"
        yield tmp_path, lambda: holder.communicate(), holder.pid
        if holder.poll() is None:
            holder.communicate()


def test_a_directory_that_another_process_writes_to_is_refused(held):
    directory, end, pid = held
    with pytest.raises(StoreError) as refused:
        claim(directory)
    said = str(refused.value)
    assert re.search(rf"process {pid} since \d{{4}}-\d\d-\d\d \d\d:\d\d \(.+\) is writing", said)
    assert "\n" not in said and list(directory.iterdir()) == []
    end()
    claim(directory)


def test_one_process_may_claim_twice_and_leaves_nothing(tmp_path):
    directory = tmp_path / "new" / "run"
    claim(directory)
    claim(directory)
    assert list(directory.iterdir()) == []


def test_a_file_in_its_place_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=r"writing .*file: "):
        claim(tmp_path / "file")
