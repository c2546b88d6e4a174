"""A replayed page, recorded through our recorder, is the recording again."""

import json
import subprocess
import sys

from answers import answers
from labs import CORPUS
from timeouts import TEST_TIMEOUT_S


def test_the_recording_of_a_replay_equals_the_recording(new_lab, tmp_path):
    original, again = CORPUS / "dashboard.wacz", tmp_path / "again.wacz"
    authority = tmp_path / "ca.pem"
    with new_lab(site=original) as lab:
        authority.write_text(lab.ready.ca_certificate, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record"]
        command += [lab.ready.main_url, "--out", str(again), "--upstream-ca", str(authority)]
        command += ["--viewport", "1024x700", "--wait-idle", "1s", "--json"]
        # Where servers stand in a lab is public to nobody.
        for origin in lab.ready.origins:
            command += ["--allow", origin["address"]]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )
        missed = [each["url"] for each in lab.stop().requests if each["match"] == "miss"]
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert missed == []
    assert info["main_url"] == lab.ready.main_url and info["objects"] >= 20
    assert info["provenance"]["viewport_px"] == [1024, 700]
    before, after = answers(original, tmp_path), answers(again, tmp_path)
    assert {url: before.get(url) for url in after} == after
