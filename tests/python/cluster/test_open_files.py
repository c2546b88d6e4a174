"""How many files a client may open: connections of hundreds of slots are files."""

import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

PROGRAM = """
import resource, sys
from pathlib import Path
from eyelevel.cluster.scheduler import SchedulerChoice, connect

if __name__ == "__main__":
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
    with connect(SchedulerChoice.of(sys.argv[1]), Path(sys.argv[2])):
        print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] == most)
"""


@pytest.mark.parametrize(("where", "is_raised"), [("listen:127.0.0.1:0", True), ("local:1", False)])
def test_slots_elsewhere_get_all_that_there_may_be_and_browsers_here_what_they_had(
    tmp_path: Path, where: str, is_raised: bool
):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, program, where, tmp_path],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=True,
    )
    assert done.stdout == f"{is_raised}\n"
