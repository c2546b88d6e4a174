"""What a machine is: those that differ in a fact are not alike, and the line says in which."""

import json
import platform
import subprocess

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary
from eyelevel.lab.confinement import UNSAFE_VARIABLE
from eyelevel.plan.browser import Browser
from eyelevel.run.machines import evidence
from eyelevel.run.machines.fleet import Evidence, Fleet
from eyelevel.run.study.cores import Processors

WITHOUT_TUN = [
    "unshare",
    "-m",
    "sh",
    "-c",
    'mount --bind /dev/null /dev/net/tun && "$1" doctor',
    "-",
]


@pytest.fixture
def judged():
    """A machine joins: the facts that it has now, and what becomes of it."""
    fleet, names = Fleet(), iter(("one", "two", "three"))

    def join():
        evidence.machine_facts.cache_clear()
        facts, machine = evidence.machine_facts(Browser()), next(names)
        [verdict] = fleet.admit(Evidence(machine, machine, 1, facts, [1000.0], [2.0]))
        return verdict

    yield join
    evidence.machine_facts.cache_clear()


def cores(count):
    return Processors(tuple(frozenset({number, number + count}) for number in range(count)))


def test_a_slot_that_roams_over_a_machine_is_not_like_one_of_several(monkeypatch, judged):
    """With more cores its loads are quicker."""
    verdicts = []
    for count in (2, 2, 16):
        monkeypatch.setattr(Processors, "usable", lambda count=count: cores(count))
        verdicts.append(judged())
    assert [each.is_admitted for each in verdicts] == [True, True, False]
    said = "its cores a slot is 16 (with 32 hardware threads) and not 2 (with 4 hardware threads)"
    assert verdicts[2].reason.startswith(f"{said}, unlike one")


def test_another_build_of_one_kernel_is_another_kernel(monkeypatch, judged):
    assert judged().is_admitted
    monkeypatch.setattr(platform, "version", lambda: "#2 SMP of my own")
    verdict = judged()
    assert not verdict.is_admitted and verdict.reason.startswith("its kernel is ")
    assert " (#2 SMP of my own) and not " in verdict.reason


def test_browsers_without_sandboxes_are_not_like_those_with(monkeypatch, judged):
    monkeypatch.delenv(UNSAFE_VARIABLE, raising=False)
    assert judged().is_admitted
    monkeypatch.setenv(UNSAFE_VARIABLE, "1")
    assert judged().reason.startswith("its browser's sandboxes is no and not yes, unlike one")


def test_a_path_without_tun_is_not_like_one_with(monkeypatch, judged):
    with_tun = json.loads(
        subprocess.check_output([find_binary(), "doctor"], timeout=TEST_TIMEOUT_S)
    )
    done = subprocess.run(
        [*WITHOUT_TUN, find_binary()],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    if with_tun["path_device"] != "tun" or done.returncode != 0:
        pytest.skip(f"needs a TUN device, and the right to hide it: {with_tun}, {done.stderr}")
    without = json.loads(done.stdout)
    assert without == with_tun | {"path_device": "veth"}
    assert judged().is_admitted
    monkeypatch.setattr(evidence, "run_tool", lambda _: without)
    assert judged().reason.startswith("its path's device is veth and not tun, unlike one")
