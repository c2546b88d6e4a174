"""Cross traffic shares the bottleneck, is counted, and ends with the lab."""

import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from labs import CORPUS
from marked import OWN_NAMESPACE, Mark
from path_command import ECHO, eyelevel
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import LabError
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.load.trial import run_trial
from eyelevel.plan.networks.cross_traffic import CrossTraffic
from eyelevel.plan.networks.network import Network
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

RATE_BIT_S = 20_000_000
PAYLOAD_SHARE = 1448 / 1500
"""Of a full packet: IPv4, TCP and its timestamps take the rest."""

pytestmark = [pytest.mark.alone, pytest.mark.usefixtures("labs")]


class Enough:
    """Waits until a direction has released so many bytes."""

    def __init__(self, direction: str, released_bytes: int) -> None:
        self._direction, self._bytes = direction, released_bytes
        self._event = threading.Event()

    def update(self, event: Mapping[str, Any]) -> None:
        if event[self._direction]["released_bytes"] >= self._bytes:
            self._event.set()

    def wait(self) -> None:
        assert self._event.wait(TEST_TIMEOUT_S), "the flows moved too little"


@pytest.mark.full
@pytest.mark.parametrize(
    ("direction", "controller"), [("down", "cubic"), ("down", "bbr"), ("up", "cubic")]
)
def test_two_flows_fill_the_link_and_share_it(direction: str, controller: str) -> None:
    # Fair queueing: how the controllers would share a plain queue is not this test's question.
    link = f"rate {RATE_BIT_S // 10**6} Mbit/s, queue fq_codel"
    other = "up" if direction == "down" else "down"
    enough = Enough(direction, 4_000_000)
    config = LabConfig(
        {direction: link, other: "delay 5ms"},
        seed=1,
        watch_interval_ms=20,
        cross_traffic=({"congestion_control": controller, "flows": 2, "direction": direction},),
    )
    with Lab(config, enough.update) as lab:
        enough.wait()
        found = lab.stop().cross_traffic
    assert found is not None
    flows = found["flows"]
    assert [(f["congestion_control"], f["direction"]) for f in flows] == [
        (controller, direction)
    ] * 2
    moved = sum(flow["bytes"] for flow in flows)
    seconds = max(flow["duration_ms"] for flow in flows) / 1e3
    # What the link can carry in that time bounds them, but for one packet at either end.
    assert moved <= RATE_BIT_S / 8 * seconds * PAYLOAD_SHARE + 2 * 1448
    assert moved >= 0.9 * 4_000_000 * PAYLOAD_SHARE
    assert sum(flow["goodput_bit_s"] for flow in flows) == pytest.approx(
        moved * 8 / seconds, rel=0.05
    )
    assert found["fairness_index"][direction] > 0.97
    for flow in flows:
        assert len(flow["sampled_bytes"]) == len(found["sampled_at_ns"])
        assert flow["sampled_bytes"] == sorted(flow["sampled_bytes"])
        assert flow["sampled_bytes"][-1] == flow["bytes"]


def test_an_unknown_controller_is_refused_before_anything_is_made() -> None:
    flows = ({"congestion_control": "vegas", "flows": 1, "direction": "down"},)
    refused = pytest.raises(LabError, match="`cubic`, `bbr`, `reno`")
    with refused, Lab(LabConfig({"down": [], "up": []}, 1, cross_traffic=flows)):
        pass


def test_the_shell_tells_goodputs_and_index_and_leaves_nothing(tmp_path: Path) -> None:
    ping = (
        "import os, socket\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.settimeout(20)\n"
        "for _ in range(40):\n"
        "    s.sendto(b'x', (os.environ['EYELEVEL_FAR'], 7))\n"
        "    s.recv(1)\n"
    )
    (tmp_path / "echo.py").write_text(ECHO)
    (tmp_path / "ping.py").write_text(ping)
    inside, mark = tmp_path / "namespace", Mark()
    command = f"readlink /proc/self/ns/net > {inside}; {sys.executable} {tmp_path}/ping.py"
    done = eyelevel(
        "path", "--rtt", "10ms", "--down", "rate 10 Mbit/s, queue droptail 100ms",
        "--cross-traffic", "cubic:2:down", "--cross-traffic", "reno:1:up",
        "--log", str(tmp_path / "log"),
        "--far", f"{sys.executable} {tmp_path}/echo.py", "--", "sh", "-c", command,
        **mark.environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Jain's fairness index down: " in done.stderr
    found = json.loads((tmp_path / "log" / "cross_traffic.json").read_text())
    assert [flow["direction"] for flow in found["flows"]] == ["down", "down", "up"]
    assert 0.5 <= found["fairness_index"]["down"] <= 1 and found["fairness_index"]["up"] == 1
    assert f"{found['flows'][0]['goodput_bit_s'] / 1e6:.3f}" in done.stderr
    assert inside.read_text().strip() != OWN_NAMESPACE and not mark.processes()


def test_a_load_beside_it_records_who_had_what() -> None:
    network = Network(
        "busy", 10_000_000, 10_000_000, 10.0, 50.0, cross_traffic=(CrossTraffic("cubic", 2),)
    )
    site = open_site(str(CORPUS / "agency.wacz"))
    plan = one_cell(site.name, [network], STACKS_BY_NAME["tcp+"], 1, 1)
    (trial,) = expand(plan, [site.of_plan()])
    record = run_trial(trial, str(site.path)).record
    found = record["cross_traffic"]
    assert len(found["flows"]) == 2 and all(flow["bytes"] for flow in found["flows"])
    assert 0.5 <= found["fairness_index"]["down"] <= 1
    load = found["load"]
    assert load["duration_ms"] == record["navigation"]["page_load_time_ms"]
    assert 0 < load["page_share"] < 1
    # All that came down while the page loaded went through the one link.
    carried = load["page_goodput_bit_s"] + sum(load["flow_goodput_bit_s"])
    assert carried < 1.05 * network.rate_down_bit_s
