"""`eyelevel probe --print` against servers whose answers are known, over each version of HTTP."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labs import FAST, cannot_build_labs
from small_site import pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME

pytestmark = pytest.mark.skipif(bool(cannot_build_labs()), reason=cannot_build_labs() or "-")

BODY_BYTES_KEPT = 4096
PAGE = b"<!doctype html>\x1b[2J\xff\r\n" + b"x" * 5000


@pytest.mark.parametrize(
    "stack, protocol, first",
    [
        ("http1", "tls1.3", "HTTP/1.1 200 OK"),
        ("tcp", "tls1.3", "HTTP/2 200"),
        ("quic", "quic", "HTTP/3 200"),
    ],
)
def test_heads_and_beginnings_of_bodies_are_printed(
    tmp_path: Path, stack: str, protocol: str, first: str
) -> None:
    bodies = {"": ("text/html", PAGE), "short": ("text/plain", b"all of it")}
    site, authority, out = pack_small_site(tmp_path, bodies), tmp_path / "ca", tmp_path / "rows"
    served = lab_stack(STACKS_BY_NAME[stack], FAST)
    with Lab(LabConfig(lab_path(FAST), 1, str(site), served)) as lab:
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")

        def probed(path: str, *more: str) -> str:
            command = [*lab.command_prefix, sys.executable, "-m", "eyelevel", "probe"]
            command += [f"small.example{path}", "-4", "--ca", str(authority), "--print"]
            command += ["--protocols", protocol, *more]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        said = probed("/", "--out", str(out))
        whole = probed("/short", "--json")
    assert "\x1b" not in said
    lines = said.splitlines()
    head = lines.index("small.example/ (192.0.2.10), " + protocol + ", attempt 1")
    assert lines[head + 1] == first
    empty = lines.index("", head)
    assert "content-type: text/html" in lines[head:empty]
    assert lines[empty + 1] == "<!doctype html>\\x1b[2J\N{REPLACEMENT CHARACTER}"
    kept = BODY_BYTES_KEPT - PAGE.index(b"x" * 9)
    assert lines[empty + 2 : empty + 5] == ["x" * kept, "(the body goes on)", ""]
    row, answer = map(json.loads, whole.splitlines())
    assert (row["event"], answer["event"]) == ("attempt", "answer")
    assert row["http_status"] == answer["status"] == 200 and row["failure"] is None
    assert (answer["body"], answer["body_whole"]) == ("all of it", True)
    assert events(out) == ["attempt", "answer"]


def events(path: Path) -> list[Any]:
    return [json.loads(line)["event"] for line in path.read_text(encoding="utf-8").splitlines()]
