"""What a recording says of round trips is what the path to each origin was."""

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from generated_site import ADDRESSES, pack_generated_site
from labs import FAST
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME

OWN_MS = {"192.0.2.1": 0.0, "192.0.2.2": 20.0, "198.51.100.1": 60.0, "198.51.100.2": 90.5}
"""The round trip of each address beyond the access network's."""


@pytest.fixture
def far_lab(labs, tmp_path):
    """A made Internet: 2 ms of access, and of each server its own way behind it."""
    site = pack_generated_site(tmp_path)
    config = LabConfig(lab_path(FAST), 1, str(site), lab_stack(STACKS_BY_NAME["tcp+"], FAST))
    half_ms = {address: rtt_ms / 2 for address, rtt_ms in OWN_MS.items()}
    beyond = {"stage": "address_delay", "delays_ms": half_ms}
    path = {"down": [beyond, *config.path["down"]], "up": [*config.path["up"], beyond]}
    return Lab(replace(config, path=path))


def test_a_recording_keeps_the_round_trip_of_each_origins_handshakes(far_lab, tmp_path):
    again, authority = tmp_path / "again.wacz", tmp_path / "ca.pem"
    with far_lab as lab:
        authority.write_text(lab.ready.ca_certificate, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record"]
        command += [lab.ready.main_url, "--out", str(again), "--upstream-ca", str(authority)]
        command += ["--wait-idle", "1s", "--visits", "2", "--json"]
        for address in OWN_MS:
            command += ["--allow", address]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
    assert done.returncode == 0, done.stderr
    origins = {each["host"]: each for each in json.loads(done.stdout)["origins"]}
    assert origins.keys() == ADDRESSES.keys()
    for host, origin in origins.items():
        wanted_ms = FAST.rtt_ms_min + OWN_MS[ADDRESSES[host]]
        # The kernel's clock at both ends of one machine; the path is at most 1 ms late.
        assert wanted_ms <= origin["handshake_rtt_ms_min"] <= wanted_ms + 1.0, host
        assert origin["handshakes"] >= 1
    table = _info(again)
    assert "api.example 198.51.100.2 92." in table and "static.made.example 192.0.2.2 22." in table


def _info(site) -> str:
    command = [sys.executable, "-m", "eyelevel.cli.main", "site", "info", str(site)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True
    )
    return " ".join(done.stdout.split())
