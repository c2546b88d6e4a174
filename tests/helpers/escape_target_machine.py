"""Start the machine of `escape_targets.py` behind a prefix, touch it and read what reached it."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import escape_targets
from raw_lab import once_ready
from timeouts import TEST_TIMEOUT_S

METADATA = "169.254.169.254"
TOUCH = """
import socket, sys
for address, port in zip(sys.argv[1::2], sys.argv[2::2]):
    socket.create_connection((address, int(port)), timeout=10).close()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (address, int(port)))
"""

Place = tuple[str, int]
"""An address and a port."""


@contextmanager
def machine(prefix: Sequence[str], **config: Any) -> Iterator[subprocess.Popen[str]]:
    """Start the machine with the escape targets behind the prefix, and yield once it listens."""
    command = [*prefix, sys.executable, escape_targets.__file__, json.dumps(config)]
    with once_ready(command) as process:
        yield process


def read_report(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return what has reached the machine so far."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def touch(prefix: Sequence[str], places: Sequence[Place]) -> None:
    """Reach each place once by TCP and once by UDP, from behind the prefix."""
    words = [str(word) for place in places for word in place]
    command = [*prefix, sys.executable, "-c", TOUCH, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, done.stderr
