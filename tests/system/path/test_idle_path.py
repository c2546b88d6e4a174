"""A path that carries nothing takes no processor, whatever it carried before."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from shells import get, run_inside, said
from small_site import PAGE_URL, pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab
from eyelevel.plan.networks.network import Network

pytestmark = pytest.mark.usefixtures("labs")

DENSE = Network("dense", 1_000_000_000, 1_000_000_000, 2.0, 100.0)
"""A gigabit: packets leave so close together that the path takes them by slots of time."""
BODIES = {"": ("application/octet-stream", bytes(4_000_000))}
SHARE_MAX = 0.5


def processor_s(pid: int) -> float:
    """Processor time of a process with all its threads (proc_pid_stat(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_path_rests_after_a_dense_stream(new_lab: Callable[..., Lab], tmp_path: Path):
    site = pack_small_site(tmp_path, BODIES)
    with new_lab(network=DENSE, site=site) as lab:
        authority = tmp_path / "ca.pem"
        authority.write_text(lab.ready.ca_certificate or "")
        found = said(run_inside(lab, get(PAGE_URL, str(authority))))
        assert found["body_bytes"] == len(BODIES[""][1])
        before_s, began_s = processor_s(lab.ready.init_pid), time.monotonic()
        # Other programs need a while; the lab has nothing to do meanwhile.
        for _ in range(5):
            words = [sys.executable, "-c", "import json, ssl, subprocess"]
            subprocess.run(words, check=True, timeout=TEST_TIMEOUT_S)
        used_s = processor_s(lab.ready.init_pid) - before_s
        passed_s = time.monotonic() - began_s
    assert used_s < SHARE_MAX * passed_s
