"""A replayed page, recorded through our recorder, is the recording again."""

import json
import subprocess
import sys
from typing import Any

from labs import CORPUS

from eyelevel.lab import run_tool


def answers(archive, tmp_path) -> dict[str, tuple[Any, ...]]:
    """Status, fields in their order and decoded body by URL."""
    har = tmp_path / f"{archive.stem}.har"
    run_tool(["archive", "export", str(archive), "--har", str(har)])
    found = {}
    for entry in json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]:
        said = entry["response"]
        fields = tuple((each["name"].lower(), each["value"]) for each in said["headers"])
        found[entry["request"]["url"]] = (said["status"], fields, said["content"].get("text"))
    return found


def test_the_recording_of_a_replay_equals_the_recording(new_lab, tmp_path):
    original, again = CORPUS / "dashboard.wacz", tmp_path / "again.wacz"
    authority = tmp_path / "ca.pem"
    with new_lab(site=original) as lab:
        authority.write_text(lab.ready.ca_certificate, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record"]
        command += [lab.ready.main_url, "--out", str(again), "--upstream-ca", str(authority)]
        command += ["--viewport", "1024x700", "--wait-idle", "1s", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        missed = [each["url"] for each in lab.stop().requests if each["match"] == "miss"]
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert missed == []
    assert info["main_url"] == lab.ready.main_url and info["objects"] >= 20
    assert info["provenance"]["viewport_px"] == [1024, 700]
    before, after = answers(original, tmp_path), answers(again, tmp_path)
    assert {url: before.get(url) for url in after} == after
