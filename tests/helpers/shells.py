"""Commands inside shells inside labs, and what they reach there."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from path_command import COMMAND
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary
from eyelevel.lab.client import Lab

# Looks the host up as any program would, then gets a body from there with our own client.
# Arguments: family (4 or 6), URL, protocol, the authority's file, the client.
GET = """
import json, socket, subprocess, sys, urllib.parse
family, url, http, ca, client = sys.argv[1:]
families = {"4": socket.AF_INET, "6": socket.AF_INET6}
host = urllib.parse.urlsplit(url).hostname
found = socket.getaddrinfo(host, 443, families[family], socket.SOCK_STREAM)
address = found[0][4][0]
place = f"[{address}]:443" if family == "6" else f"{address}:443"
words = ["bulk", "--to", place, "--url", url, "--http", http, "--ca", ca]
words += ["--bytes-max", "100000000", "--duration-ms", "60000"]
done = subprocess.run([client, *words], stdout=subprocess.PIPE, check=True)
print(json.dumps(json.loads(done.stdout) | {"address": address}))
"""


def shell(*words: str) -> list[str]:
    """`eyelevel path` with these words."""
    return [*COMMAND, "path", *words, "--"]


def get(url: str, authority: str, http: str = "h2", family: int = 4) -> list[str]:
    """The command that gets a body and says how it went."""
    words = [str(family), url, http, authority, find_binary()]
    return [sys.executable, "-c", GET, *words]


def run_inside(lab: Lab, *command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A command, with the shells before it, on the client side of a lab."""
    return subprocess.run(
        [*lab.command_prefix, *(word for part in command for word in part)],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return a command's JSON output."""
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))
