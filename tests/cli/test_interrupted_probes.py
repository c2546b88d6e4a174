"""`probe --list`, ended by its user or by a system that shuts down: what it says, what goes on."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

# The signal comes from inside, behind the third host, so that no test waits for its moment.
INTERRUPTED = """
import os, sys
from eyelevel.cli.main import main
from eyelevel.cli.probe import commands
ended, number, count = commands._end_list, int(sys.argv.pop(1)), 0
def end(sink, key):
    global count
    ended(sink, key)
    count += 1
    if count == 3:
        os.kill(os.getpid(), number)
commands._end_list = end
sys.argv[0] = "eyelevel"
sys.exit(main())
"""
HOSTS = 6
GO_ON = "continue with --resume and the same --out"


def probe(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("number", "status", "last"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
@pytest.mark.parametrize("kept", [True, False])
def test_a_list_says_how_far_it_came_and_how_it_goes_on(
    tmp_path: Path, number: int, status: int, last: str, kept: bool
) -> None:
    (tmp_path / "list").write_text("".join(f"localhost:{port}\n" for port in range(1, 1 + HOSTS)))
    words = ["probe", "--list", tmp_path / "list", "--connect", "127.0.0.1", "--protocols", "tcp"]
    words += ["--out", tmp_path / "rows"] if kept else []
    done = probe("-c", INTERRUPTED, int(number), *words)
    assert done.returncode == status and "Traceback" not in done.stderr
    *_, line, end = done.stderr.splitlines()
    how = GO_ON if kept else "it cannot be continued, since there is no --out"
    assert (line, end) == (f"stopped after 3 of {HOSTS} hosts: {how}", f"eyelevel: {last}")
    if kept:
        done = probe("-m", "eyelevel.cli.main", *words, "--resume")
        assert f"3 of {HOSTS} hosts are in {tmp_path / 'rows'}\n" in done.stderr, done.stderr
        rows = (tmp_path / "rows").read_text().splitlines()
        assert sum('"event": "attempt"' in row for row in rows) == HOSTS
