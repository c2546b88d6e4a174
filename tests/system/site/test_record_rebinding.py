"""A name that leads elsewhere at each lookup: the recorder connects to what it judged."""

import json
import subprocess
import sys
from collections import Counter

import turning_name
from labs import run_in
from timeouts import TEST_TIMEOUT_S

PUBLIC, PORT, TRIES = "198.41.0.4", 9003, 12

# Counts the connections to an address that there were when a line of input came. Who connects
# needs no answer, and the backlog keeps them all until then.
OUTSIDE = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=64)
print("ready", flush=True)
sys.stdin.readline()
server.setblocking(False)
count = 0
try:
    while True:
        server.accept()[0].close()
        count += 1
except BlockingIOError:
    print(count, flush=True)
"""


def test_a_name_that_changes_reaches_public_addresses_alone(new_lab, tmp_path):
    with new_lab(site=None) as lab:
        far = [*lab.server_command_prefix, "ip", "address", "add", f"{PUBLIC}/32", "dev", "lo"]
        subprocess.run(far, check=True, timeout=TEST_TIMEOUT_S)
        resolver = f"echo nameserver {turning_name.RESOLVER} > /etc/resolv.conf"
        assert run_in(lab, "sh", "-c", resolver).returncode == 0
        command = [*lab.server_command_prefix, sys.executable, "-c", OUTSIDE, PUBLIC, str(PORT)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, text=True, **pipes) as outside:
            assert outside.stdout.readline() == "ready\n"
            arguments = (PUBLIC, str(PORT), str(TRIES), lab.command_prefix[0])
            out = str(tmp_path / "site.wacz")
            done = run_in(lab, sys.executable, turning_name.__file__, *arguments, out)
            assert done.returncode == 0, done.stderr
            reached, _ = outside.communicate("\n", timeout=TEST_TIMEOUT_S)
    seen = json.loads(done.stdout)
    # One lookup a connection: every second one led to loopback, and was refused.
    assert seen["asked"] == TRIES and Counter(seen["answers"]) == {200: 6, 403: 6}
    assert (seen["loopback"], int(reached)) == (0, 6)
