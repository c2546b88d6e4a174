"""`eyelevel probe udp` against servers of our own, in a lab."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labs import cannot_build_labs
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget

pytestmark = pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-")

PATH = {side: [{"stage": "delay", "delay_ms": 1}] for side in ("down", "up")}


def test_quic_passes_where_it_is_answered_and_one_silent_host_proves_nothing(
    tmp_path: Path,
) -> None:
    authority = tmp_path / "ca.pem"
    with Lab(LabConfig(PATH, 1)) as lab, ProbeTarget.behind(lab, {"names": ["a.lab"]}) as servers:
        authority.write_text(servers.authority_pem, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel", "probe", "udp"]
        command += ["--ca", str(authority), "--connect", lab.ready.server_address, "--json"]

        def asked(*hosts: str) -> tuple[int, dict[str, Any]]:
            done = subprocess.run(
                [*command, *hosts],
                capture_output=True,
                text=True,
                timeout=TEST_TIMEOUT_S,
                check=False,
            )
            assert done.stdout, done.stderr
            return done.returncode, json.loads(done.stdout)

        status, found = asked("a.lab", "a.lab:9")
        assert (status, found["verdict"]) == (0, "passes")
        assert [(each["tls"], each["quic"], each["state"]) for each in found["hosts"]] == [
            (3, 3, "passes"),
            (0, 0, "unknown"),
        ]
        assert found["hosts"][0]["offers_h3"] is True
        status, found = asked("a.lab:9")
        assert (status, found["verdict"], found["hosts"][0]["quic_silent"]) == (
            *(3, "undetermined"),
            3,
        )


# Answers of servers find no way back, and nobody is told: what a firewall that drops looks like.
SILENT = ("ip", "rule", "add", "ipproto", "udp", "sport", "443", "blackhole")
ADDRESSES = ("198.51.100.1", "198.51.100.2")


def test_two_servers_that_offer_http3_and_are_silent_over_udp_are_blocked(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    offered = {"names": list(ADDRESSES)}
    with Lab(LabConfig(PATH, 1)) as lab, ProbeTarget.behind(lab, offered) as servers:
        authority.write_text(servers.authority_pem, encoding="ascii")
        far = lab.server_command_prefix
        for address in ADDRESSES:
            subprocess.run([*far, "ip", "address", "add", f"{address}/32", "dev", "lo"], check=True)

        def asked(*words: str) -> tuple[int, str, list[str]]:
            words = ("probe", "udp", "--ca", str(authority), "--json", *words)
            done = subprocess.run(
                [*lab.command_prefix, sys.executable, "-m", "eyelevel", *words],
                capture_output=True,
                text=True,
                timeout=TEST_TIMEOUT_S,
                check=False,
            )
            assert done.stdout, done.stderr
            found = json.loads(done.stdout)
            return done.returncode, found["verdict"], [each["state"] for each in found["hosts"]]

        assert asked(*ADDRESSES) == (0, "passes", ["passes", "passes"])
        subprocess.run([*far, *SILENT], check=True)
        waits = ("--timeout", "2s")
        assert asked(*waits, *ADDRESSES) == (1, "blocked", ["blocked", "blocked"])
        assert asked(*waits, ADDRESSES[0]) == (3, "undetermined", ["blocked"])
