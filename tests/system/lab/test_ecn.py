"""ECN in labs: off and on over both transports, one side alone, and a SYN that is lost."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
from labs import run_in

from eyelevel.base.errors import LabError
from eyelevel.calibration.validation.bulk import bulk_site, fetch
from eyelevel.lab.client import Lab, LabConfig, LabSummary
from eyelevel.load.wrong_stack import capable, wrong_ecn
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

pytestmark = pytest.mark.alone

PATH = {
    "down": "delay 20ms, rate 3 Mbit/s, queue fq_codel",
    "up": "rate 3 Mbit/s, queue fq_codel, delay 20ms",
}
BODY_BYTES = 364_000
"""Enough for slow start to fill the queue."""
DURATION_MS = 20_000
BOTH = pytest.mark.parametrize("name", ["tcp+", "quic"])


def stack_of(name: str, ecn: Literal["off", "on"]) -> Stack:
    return replace(STACKS_BY_NAME[name], ecn=ecn)


def message(stack: Stack) -> dict[str, Any]:
    return lab_stack(stack, NETWORKS_BY_NAME["dsl"])


def transferred(
    folder: Path,
    stack: Stack,
    client: Stack | None = None,
    client_sysctl: str = "",
    path: Mapping[str, str] = PATH,
) -> LabSummary:
    """One transfer; the client's side as the stack has it, where nothing else is said."""
    site, url = bulk_site(folder, BODY_BYTES)
    with Lab(LabConfig(path, 1, str(site), message(stack))) as lab:
        if client_sysctl:
            done = run_in(lab, "sh", "-c", f"echo {client_sysctl} > /proc/sys/net/ipv4/tcp_ecn")
            assert not done.returncode, done.stderr
        told = fetch(lab, message(client or stack), url, BODY_BYTES, DURATION_MS)
        summary = lab.stop()
    assert told["complete"], (told, summary.connections, summary.path)
    return summary


def judged(stack: Stack, summary: LabSummary) -> str:
    assert summary.path is not None
    return wrong_ecn(stack, summary.connections, summary.requests, summary.path)


@pytest.mark.full
@BOTH
def test_without_ecn_nothing_is_capable_and_queues_drop(
    name: str, tmp_path: Path, labs: None
) -> None:
    stack = stack_of(name, "off")
    summary = transferred(tmp_path, stack)
    path = summary.path
    assert path is not None
    assert [capable(path[way]["ecn"]) for way in ("down", "up")] == [0, 0]
    assert path["down"]["marked_packets"] == 0
    assert path["down"]["dropped"]["active-queue"] > 0
    assert judged(stack, summary) == ""


@BOTH
def test_with_ecn_data_are_capable_and_queues_mark_instead(
    name: str, tmp_path: Path, labs: None
) -> None:
    stack = stack_of(name, "on")
    summary = transferred(tmp_path, stack)
    path = summary.path
    assert path is not None
    (connection,) = summary.connections
    down, up = (connection["ecn"][way] for way in ("down", "up"))
    assert (down["ect1"], down["ce"]) == (0, 0)
    # Of TCP the answer to the SYN and acknowledgements alone are not; of QUIC everything is.
    assert down["not_ect"] <= (10 if name == "tcp+" else 0)
    assert down["ect0"] > BODY_BYTES / 1500
    assert up["ect0"] > 0
    if name == "quic":
        # Who is not told how its packets came gives ECN up.
        assert up["not_ect"] == 0
    assert path["down"]["dropped"] == {}
    assert down["marked"] == path["down"]["ecn"]["marked"] == path["down"]["marked_packets"] > 0
    assert connection["in_force"]["retransmitted_packets"] == 0
    assert judged(stack, summary) == ""


def test_ecn_on_one_side_alone_is_seen(tmp_path: Path, labs: None) -> None:
    off, on = stack_of("quic", "off"), stack_of("quic", "on")
    # The client tells of no marks, so that the server gives ECN up.
    assert "packets down were ECN-capable" in judged(on, transferred(tmp_path, on, client=off))
    assert "packets up were ECN-capable" in judged(off, transferred(tmp_path, off, client=on))
    tcp = stack_of("tcp+", "on")
    said = judged(tcp, transferred(tmp_path, tcp, client_sysctl="0"))
    assert "0% of its packets down were ECN-capable" in said


@pytest.mark.full
def test_a_lost_syn_does_not_cost_tcp_its_ecn(tmp_path: Path, labs: None) -> None:
    fates = tmp_path / "fates"
    fates.write_text("lost\n", encoding="ascii")
    stack = stack_of("tcp+", "on")
    path = PATH | {"up": f"fates {fates}, {PATH['up']}"}
    summary = transferred(tmp_path, stack, path=path)
    assert summary.path is not None
    assert summary.path["up"]["dropped"] == {"recorded": 1}
    assert judged(stack, summary) == ""


def test_what_ecn_cannot_be_is_said_in_one_line(tmp_path: Path, labs: None) -> None:
    site, _ = bulk_site(tmp_path, 1000)
    wrong = message(stack_of("tcp+", "off")) | {"ecn": "maybe"}
    with pytest.raises(LabError) as found, Lab(LabConfig(PATH, 1, str(site), wrong)):
        pass
    assert "`maybe`, expected `off` or `on`" in str(found.value)
    assert "\n" not in str(found.value)
