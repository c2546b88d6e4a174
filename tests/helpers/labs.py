"""Recordings, networks and small helpers of the tests with real labs."""

import subprocess
from typing import Any

from repository import ROOT
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import LabError
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab
from eyelevel.plan.networks.network import Network

CORPUS = ROOT / "python/eyelevel/sites/shipped"
RECORDINGS = ROOT.parent / "shared" / "data" / "sites" / "warc"

FAST = Network("fast", 1_000_000_000, 1_000_000_000, 2.0, 100.0)


def cannot_build_labs() -> str:
    """Return why this machine cannot build labs; empty where it can."""
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
        timeout=TEST_TIMEOUT_S,
        check=False,
    )


def load_in(lab: Lab, **more: Any) -> RawLoad:
    """Load the page that a lab serves, in a browser on its client side."""
    ready = lab.ready
    settings = {
        "quic_origins": ready.quic_origins(),
        "spki_sha256": ready.spki_sha256,
        "ca_certificate": ready.ca_certificate,
        "command_prefix": lab.command_prefix,
    }
    return load_page(LoadSettings(ready.main_url or "", **settings | more))
