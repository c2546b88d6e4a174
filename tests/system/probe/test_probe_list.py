"""`eyelevel probe --list` against servers of our own, in a lab."""

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


def hosts(path: Path, event: str) -> list[str]:
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line["host"] for line in lines if line["event"] == event]


def test_a_list_goes_on_at_the_host_at_which_it_was_stopped(tmp_path: Path) -> None:
    names = ["a.lab", "b.lab", "c.lab"]
    listed, out, authority = (tmp_path / name for name in ("hosts", "rows.jsonl", "ca.pem"))
    listed.write_text("# three\na.lab\nb.lab/x # the second\nc.lab\n", encoding="utf-8")
    options: list[Any] = ["--list", listed, "--out", out, "--ca", authority, "--protocols"]
    options += ["tls1.3,quic", "--interval", "1ms"]
    with Lab(LabConfig(PATH, 1)) as lab, ProbeTarget.behind(lab, {"names": names}) as servers:
        authority.write_text(servers.authority_pem, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel", "probe", *options]
        command += ["--connect", lab.ready.server_address]

        def probed(*more: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*command, *more],
                capture_output=True,
                text=True,
                timeout=TEST_TIMEOUT_S,
                check=False,
            )

        done = probed()
        assert done.returncode == 0, done.stderr
        assert [done.stdout.count(f"{name} (") for name in names] == [1, 1, 1]
        assert "3 of 3 hosts" in done.stderr
        assert (hosts(out, "attempt"), hosts(out, "target")) == (sorted(2 * names), names)
        # Killed in the second host's second row.
        text = out.read_text(encoding="utf-8")
        second = [at for at in range(len(text)) if text.startswith('"host": "b.lab"', at)][1]
        out.write_text(text[: second + 20], encoding="utf-8")
        again = probed("--resume", "--json")
        assert again.returncode == 0, again.stderr
        assert [json.loads(line)["host"] for line in again.stdout.splitlines()] == [
            *("b.lab", "b.lab", "c.lab", "c.lab")
        ]
        assert hosts(out, "target") == names
        assert hosts(out, "attempt") == ["a.lab"] * 2 + ["b.lab"] * 3 + ["c.lab"] * 2
        nothing = probed("--resume", "--json")
        assert (nothing.returncode, nothing.stdout) == (0, "")
        rows = subprocess.run(
            [sys.executable, "-m", "eyelevel", "probe", "report", out, "--json"],
            capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=True,
        )  # fmt: skip
        assert json.loads(rows.stdout)["pairs"][0]["hosts"] == 3
