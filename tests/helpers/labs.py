"""Recordings, networks and small helpers of the tests with real labs."""

import subprocess

from hang import HANG_S
from repository import ROOT

from eyelevel.binary import run_tool
from eyelevel.errors import LabError
from eyelevel.lab.client import Lab
from eyelevel.networks.network import Network

CORPUS = ROOT / "python/eyelevel/sites/shipped"
RECORDINGS = ROOT.parent / "shared" / "data" / "sites" / "warc"

FAST = Network("fast", 1_000_000_000, 1_000_000_000, 2.0, 100.0)


def cannot_build_labs() -> str:
    """Why this machine cannot build labs; empty where it can."""
    try:
        return run_tool(["doctor"])["lab_failure"] or ""
    except LabError as error:
        return str(error)


def run_in(lab: Lab, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on the client side of a lab."""
    return subprocess.run(
        [*lab.command_prefix, *command],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )
