"""How a lab is made is decided by capabilities: root without them is as ordinary users."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from raw_lab import inside, raw_lab

from eyelevel.base.lab_tables import CAPABILITIES
from eyelevel.lab.binary import find_binary

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give up capabilities")

WHO = """
import json
from eyelevel.lab.confinement import confine, find_unprivileged_user, missing_capabilities
print(json.dumps([missing_capabilities(), find_unprivileged_user(), confine((), [])]))
"""


def with_capabilities(*words: str) -> tuple[str, ...]:
    """Root, with what is left of its capabilities after an execution, in setpriv's words."""
    return ("setpriv", "--inh-caps=-all", f"--bounding-set={','.join(words)}")


def all_but(*names: str) -> tuple[str, ...]:
    return with_capabilities(*(f"-{name.lower()}" for name in names))


JUST_NEEDED = with_capabilities("-all", *(f"+{name.lower()}" for name in CAPABILITIES))
WITHOUT = (*((name,) for name in CAPABILITIES), tuple(CAPABILITIES))


def _has_own_user_namespace(init_pid: int) -> bool:
    spaces = [Path(f"/proc/{who}/ns/user").readlink() for who in ("self", init_pid)]
    return spaces[0] != spaces[1]


def _decided(user: tuple[str, ...]) -> tuple[list[str], list[int] | None, list[str]]:
    done = subprocess.run(
        [*user, sys.executable, "-c", WHO], capture_output=True, text=True, check=True
    )
    missing, unprivileged, command = json.loads(done.stdout)
    return missing, unprivileged, command


def test_just_what_is_needed_makes_a_lab_without_a_user_namespace(labs: None) -> None:
    with raw_lab(JUST_NEEDED) as (_, ready):
        assert not _has_own_user_namespace(ready["init_pid"])
    missing, unprivileged, command = _decided(JUST_NEEDED)
    assert missing == [] and unprivileged is not None and "--user" in command
    assert _who_is_confined(JUST_NEEDED, command) == 1000


@pytest.mark.parametrize("names", WITHOUT, ids="+".join)
def test_without_one_root_takes_the_way_of_ordinary_users(
    labs: None, names: tuple[str, ...]
) -> None:
    user = all_but(*names)
    with raw_lab(user) as (_, ready):
        assert _has_own_user_namespace(ready["init_pid"])
    missing, unprivileged, command = _decided(user)
    assert set(missing) >= set(names) and unprivileged is None and "--user" not in command


def test_roots_lab_without_capabilities_works_and_confines(labs: None) -> None:
    user = all_but(*CAPABILITIES)
    with raw_lab(user) as (_, ready), inside(ready, "print('ready')"):
        pass
    assert _who_is_confined(user, _decided(user)[2]) == 1000


def _who_is_confined(user: tuple[str, ...], command: list[str]) -> int:
    done = subprocess.run(
        [*user, *command, "/usr/bin/id", "-u"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_an_ordinary_user_with_all_of_them_needs_no_user_namespace(labs: None) -> None:
    names = ",".join(f"+{name.lower()}" for name in CAPABILITIES)
    user = (
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
        f"--inh-caps=-all,{names}", f"--ambient-caps=-all,{names}",
    )  # fmt: skip
    with raw_lab(user) as (_, ready):
        assert not _has_own_user_namespace(ready["init_pid"])


def test_root_that_cannot_be_mapped_is_told_the_way_out() -> None:
    done = subprocess.run(
        [*all_but("sys_admin", "setfcap"), find_binary(), "doctor"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--user 1000:1000" in json.loads(done.stdout)["lab_failure"]


NICE = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    "--inh-caps=-all,+sys_nice", "--ambient-caps=-all,+sys_nice",
)  # fmt: skip


@pytest.mark.parametrize(
    "user", [(), all_but("sys_admin"), NICE], ids=["root", "root without SYS_ADMIN", "SYS_NICE"]
)
def test_doctor_promises_the_priority_that_a_lab_gets(labs: None, user: tuple[str, ...]) -> None:
    """CAP_SYS_NICE counts in no user namespace: outside of one it would be promised in vain."""
    said = subprocess.run(
        [*user, find_binary(), "doctor"], capture_output=True, text=True, check=True
    )
    with raw_lab(user, realtime=True) as (_, ready):
        assert json.loads(said.stdout)["realtime_allowed"] == ready["realtime_priority"]
