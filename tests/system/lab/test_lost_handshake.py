"""A path that loses the servers' answers to a SYN: what TCP then begins with, how it is judged."""

import sys
from pathlib import Path

from labs import run_in

from eyelevel.analysis.pathlog import read_log
from eyelevel.calibration.validation.bulk import HOST, bulk_site
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.load.wrong_stack import has_reduced_window
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME

LOST = 3
SYN_ACK_BYTES = 60
"""With all its options; an acknowledgement alone has 52."""

FETCH = (
    "import http.client, sys; connection = http.client.HTTPConnection(sys.argv[1]);"
    "connection.request('GET', '/object', headers={'Host': sys.argv[2]});"
    "print(len(connection.getresponse().read()))"
)


def test_syn_acks_sent_again_are_counted_and_take_tcp_its_window(
    tmp_path: Path, labs: None
) -> None:
    site, _ = bulk_site(tmp_path, 5000, "http")
    fates = tmp_path / "fates"
    fates.write_text("lost\n" * LOST, encoding="ascii")
    plain = STACKS_BY_NAME["http1-plain"]
    stack = lab_stack(plain, NETWORKS_BY_NAME["dsl"])
    path, log = {"down": f"fates {fates}", "up": []}, str(tmp_path)
    with Lab(LabConfig(path, 1, str(site), stack, log=log)) as lab:
        (origin,) = lab.ready.origins
        done = run_in(lab, sys.executable, "-c", FETCH, origin["address"], HOST)
        (connection,) = lab.stop().connections
    assert done.stdout == "5000\n", done.stderr
    in_force = connection["in_force"]
    # Client and server each send again by timers of their own, which may ring at one time: then one
    # answer more is on its way than had to be.
    down = read_log((tmp_path / "down.log").read_bytes(), "down.log")
    sent = int((down.arrived_bytes == SYN_ACK_BYTES).sum())
    assert in_force["syn_ack_retransmitted_packets"] == sent - 1 >= LOST
    assert in_force["initial_window_packets"] == 1
    assert has_reduced_window(plain, in_force)
