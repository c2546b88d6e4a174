"""Who in a lab goes before whom: path, then servers and resolver, then everything else."""

import contextlib
import os
import sys
import time
from pathlib import Path

import pytest
from labs import CORPUS, FAST, run_in
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME

PATH = (os.SCHED_FIFO, 2)
ENDPOINT = (os.SCHED_RR, 1)
NORMAL = (os.SCHED_OTHER, 0)
PRINT_OWN = "import os; print(os.sched_getscheduler(0), os.sched_getparam(0).sched_priority)"


def priorities(lab: Lab) -> list[tuple[int, int]]:
    """Of every thread of the lab's process 1, in the order of their numbers."""
    threads = sorted(int(each.name) for each in Path(f"/proc/{lab.ready.init_pid}/task").iterdir())
    found = []
    for tid in threads:
        with contextlib.suppress(ProcessLookupError):  # it may end between two looks
            found.append((os.sched_getscheduler(tid), os.sched_getparam(tid).sched_priority))
    return found


@pytest.mark.parametrize(("realtime", "servers"), [(True, True), (True, False), (False, True)])
def test_a_lab_says_which_priorities_are_in_force(
    realtime: bool, servers: bool, labs: None
) -> None:
    allowed = run_tool(["doctor"])["realtime_allowed"]
    stack = lab_stack(STACKS_BY_NAME["tcp+"], FAST)
    config = LabConfig(
        lab_path(FAST), 1, str(CORPUS / "agency.wacz"), stack, realtime, realtime_servers=servers
    )
    with Lab(config) as lab:
        endpoints = 3 * int(realtime and servers and allowed)
        found = priorities(lab)
        # A thread takes its priority as its first step, which may be after the lab is ready.
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while found.count(ENDPOINT) != endpoints and time.monotonic() < deadline:
            found = priorities(lab)
        assert lab.ready.realtime_priority == (realtime and allowed)
        assert lab.ready.server_realtime_priority == (realtime and servers and allowed)
        # The main thread, which starts what ends the lab, and every command inside are as usual.
        assert found[0] == NORMAL
        assert found.count(PATH) == int(realtime and allowed)
        # The servers, the resolver, and the one that looks for suspended processes.
        assert found.count(ENDPOINT) == endpoints
        inside = run_in(lab, sys.executable, "-c", PRINT_OWN)
        assert inside.stdout.split() == [str(number) for number in NORMAL]
