"""`eyelevel path` as a user runs it, and what stands at its far end."""

import os
import subprocess
import sys

import pytest
from timeouts import TEST_TIMEOUT_S

COMMAND = [sys.executable, "-c", "import sys; from eyelevel.cli.main import main; sys.exit(main())"]


def eyelevel(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EYELEVEL_")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(
        [*COMMAND, *arguments],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=environment | changes,
    )


ECHO = """
import socket
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as s:
    s.bind(("::", 7))
    while True:
        data, peer = s.recvfrom(100)
        s.sendto(data, peer)
"""


needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root, to make a network around the lab"
)
