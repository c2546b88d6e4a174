"""A page that is recorded reaches nothing that is not public, whatever it tries."""

import json
import subprocess
import sys

from escape_target_machine import METADATA, machine, read_report, touch
from labs import run_in
from timeouts import TEST_TIMEOUT_S

PAGE_PORT = 8000
# Names of the lab's two sides, as they stand in its /etc/hosts.
SERVER_NAME = "far"


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
            touch(lab.command_prefix, [(place[0], place[1]) for place in (*own, [far, 9004])])
            command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record"]
            command += [f"http://127.0.0.1:{PAGE_PORT}/", "--out", str(out), "--json"]
            command += ["--wait-idle", "15s"]
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
            )
            assert done.returncode == 0, done.stderr
            seen, beyond = read_report(here), read_report(there)
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
