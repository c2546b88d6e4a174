"""`eyelevel record` with the words of a path, in a network of its own: pages come over the path."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites.recorded import open_site

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a path's way out")

# A network with a server at an address of its own; what is run there is given as words.
AROUND = """
import http.server, subprocess, sys, threading
from pathlib import Path

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<p>a page")

def ip(words):
    subprocess.run(["ip", *words.split()], check=True)

ip("link set lo up")
ip("addr add 198.51.100.1/32 dev lo")
Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
server = http.server.ThreadingHTTPServer(("198.51.100.1", 80), Page)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


@needs_root
def test_recorded_round_trips_are_the_paths(labs: None, tmp_path: Path) -> None:
    out = tmp_path / "page.wacz"
    command = ["record", "http://198.51.100.1/", "--out", str(out), "--rtt", "80ms"]
    python = [sys.executable]
    done = subprocess.run(
        ["unshare", "--net", *python, "-c", AROUND, *python, "-m", "eyelevel.cli.main", *command],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "recording behind `eyelevel path --rtt 80ms`" in done.stderr
    (place,) = open_site(str(out)).of_plan().places
    assert place.handshake_rtt_ms_min is not None
    assert place.handshake_rtt_ms_min >= 80
