"""Two commands take different cores, or the second is refused and told by whom."""

import subprocess
import sys

import pytest

from eyelevel.run.study.cores import CoresTakenError, Processors, claim_cores

FOUR = Processors(tuple(frozenset({number, number + 4}) for number in range(4)))
HOLDER = """
import sys
from eyelevel.run.study.cores import claim_cores
from eyelevel.run.study.cores import Processors
with claim_cores(Processors((frozenset({0, 4}), frozenset({1, 5}))), 2):
    print("claimed", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "eyelevel"


@pytest.fixture
def other():
    """Another command that has the cores 0 and 1."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "claimed\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_command_takes_other_cores(other):
    with claim_cores(FOUR, 2) as free:
        assert free.cores == FOUR.cores[2:]


def test_where_too_few_are_free_it_is_told_who_has_them(other):
    with pytest.raises(CoresTakenError) as refused, claim_cores(FOUR, 4):
        pass
    said = str(refused.value)
    assert "4 cores are wanted, and 2 are free" in said and "\n" not in said
    assert f"2 are taken by process {other.pid} since" in said


def test_a_thread_of_a_core_is_the_whole_core(other):
    half = Processors((frozenset({4}), frozenset({2})))
    with claim_cores(half, 1) as free:
        assert free.cores == (frozenset({2}),)


def test_a_quota_is_shared_with_who_has_the_other_cores(other):
    limited = Processors(FOUR.cores, quota=3.0)
    with pytest.raises(CoresTakenError, match="1 are free"), claim_cores(limited, 2):
        pass


def test_a_dead_command_has_no_cores(other):
    other.kill()
    other.wait()
    with claim_cores(FOUR, 4) as free:
        assert free.cores == FOUR.cores
    with claim_cores(FOUR, 4):
        pass  # nor has one that has ended


def test_a_folder_in_which_others_may_write_is_refused(runtime):
    runtime.mkdir()
    runtime.chmod(0o777)
    said = "not this user's own folder"
    with pytest.raises(CoresTakenError, match=said), claim_cores(FOUR, 1):
        pass
