"""A page that is recorded reaches nothing that is not public, whatever it tries."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import tempting
from hang import HANG_S
from labs import run_in

PAGE_PORT = 8000
METADATA = "169.254.169.254"
# Names of the lab's two sides, as they stand in its /etc/hosts.
SERVER_NAME = "far"

TOUCH = """
import socket, sys
for address, port in zip(sys.argv[1::2], sys.argv[2::2]):
    socket.create_connection((address, int(port)), timeout=10).close()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", (address, int(port)))
"""


@contextmanager
def machine(prefix, **config) -> Iterator[subprocess.Popen[str]]:
    """A tempting machine behind the prefix, once it listens."""
    command = [*prefix, sys.executable, tempting.__file__, json.dumps(config)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def told(process):
    process.stdin.write("\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def test_a_recorded_page_reaches_only_what_the_command_line_names(new_lab, tmp_path):
    out = tmp_path / "site.wacz"
    with new_lab(site=None) as lab:
        # The lab's client side is the machine that records; its server side is another network.
        far = lab.ready.server_address
        added = run_in(lab, "ip", "address", "add", f"{METADATA}/32", "dev", "lo")
        assert added.returncode == 0, added.stderr
        own = [["127.0.0.1", 9001], ["::1", 9002], ["127.0.0.1", 9003], [METADATA, 80]]
        own.append([lab.ready.client_address, 9005])
        ask = ["127.0.0.1:9001", "[::ffff:127.0.0.1]:9001", "2130706433:9001", "0x7f.1:9001"]
        ask += ["[::1]:9002", "localhost:9003", f"localhost:{PAGE_PORT}", f"{METADATA}:80"]
        ask += [f"{far}:9004", f"{SERVER_NAME}:9004", f"{lab.ready.client_address}:9005"]
        with (
            machine(lab.command_prefix, page=PAGE_PORT, listen=own, ask=ask) as here,
            machine(lab.server_command_prefix, page=None, listen=[[far, 9004]], ask=[]) as there,
        ):
            # Each of them is there, for whoever records.
            places = [str(part) for place in (*own, [far, 9004]) for part in place]
            touched = run_in(lab, sys.executable, "-c", TOUCH, *places)
            assert touched.returncode == 0, touched.stderr
            command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record"]
            command += [f"http://127.0.0.1:{PAGE_PORT}/", "--out", str(out), "--json"]
            command += ["--wait-idle", "15s"]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=HANG_S, check=False
            )
            assert done.returncode == 0, done.stderr
            seen, beyond = told(here), told(there)
    assert seen["hits"] | beyond["hits"] == dict.fromkeys(seen["hits"] | beyond["hits"], 1)
    (reached,) = map(json.loads, seen["said"])  # the page has tried everything
    # A refusal over plain HTTP is an answer that the page cannot read; nothing else is one.
    assert {each.split()[0] for each in reached} <= {"fetch", "post"}, reached
    notes = json.loads(done.stdout)["provenance"]["left_out"]
    for note in (
        "refused: 127.0.0.1:9001 is loopback (RFC 1122)",
        "refused: [::1]:9002 is loopback (RFC 4291)",
        "refused: [::ffff:7f00:1]:9001 is loopback (RFC 1122)",
        "refused: localhost:9003 is at 127.0.0.1, loopback (RFC 1122)",
        f"refused: localhost:{PAGE_PORT} is at 127.0.0.1, loopback (RFC 1122)",
        f"refused: {METADATA}:80 is link-local (RFC 3927)",
        f"refused: {far}:9004 is ",
        f"refused: {SERVER_NAME}:9004 is at {far}, ",
    ):
        assert any(each.startswith(note) for each in notes), (note, notes)
