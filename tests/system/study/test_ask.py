"""`eyelevel ask URL`: a server's page is recorded, loaded over two stacks, and answered about."""

import json
import subprocess
import sys
from pathlib import Path

from loads import GOOD
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")


def test_a_url_is_recorded_loaded_and_answered(labs: None, origin: str, tmp_path: Path) -> None:
    def ask(*more: str) -> subprocess.CompletedProcess[str]:
        words = ["ask", f"{origin}/next", "--change", "http3", "--networks", "dsl", "--blocks", "2"]
        return subprocess.run(
            [*COMMAND, *words, *more],
            capture_output=True,
            text=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
            cwd=tmp_path,
        )

    asked = ask("--json")
    assert asked.returncode == 3, asked.stderr  # two blocks are too few for a verdict
    assert "recorded 2 exchanges of 1 origins in sites/127.0.0.1-" in asked.stderr
    assert "an https copy is kept" in asked.stderr
    found = json.loads(asked.stdout)
    directory = tmp_path / Path(found["report"]).parent
    loads = [each.record for each in iterate_trials(directory)]
    assert {each["outcome"] for each in loads} <= set(GOOD), loads
    protocols = {
        (each["trial"]["stack"], item["protocol"])
        for each in loads
        for item in each["objects"]
        if item["from"] == "network"
    }
    assert len(loads) == 4 and protocols == {("tcp+", "h2"), ("quic", "h3")}
    assert (tmp_path / found["report"]).stat().st_size > 100_000

    # Asked again, nothing is recorded or loaded anew, and the answer is the same.
    resumed = ask("--resume", "--inconclusive", "pass")
    assert resumed.returncode == 0, resumed.stderr
    assert "recorded" not in resumed.stderr and "exists already" in resumed.stderr
    printed = " ".join(resumed.stdout.split())
    for sentence in found["answer"]:
        assert " ".join(sentence.split()) in printed
    assert printed.endswith(f"report: {found['report']}")
    assert len(list(iterate_trials(directory))) == 4
