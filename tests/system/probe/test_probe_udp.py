"""`eyelevel probe udp` against servers of our own, in a lab."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hang import HANG_S
from labs import cannot_build_labs

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
                [*command, *hosts], capture_output=True, text=True, timeout=HANG_S, check=False
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
