"""A page that was recorded over IPv6 is loaded over it, by every stack."""

from pathlib import Path

import pytest
from loads import load
from small_site import BODIES, pack_small_site

from eyelevel.store.directory import iterate_trials

ADDRESS = "2001:db8::10"


@pytest.mark.parametrize(("stack", "protocol"), [("tcp+", "h2"), ("quic", "h3")])
def test_every_answer_comes_over_ipv6_and_by_the_stacks_protocol(
    labs: None, tmp_path: Path, stack: str, protocol: str
) -> None:
    site = pack_small_site(tmp_path, address=ADDRESS)
    words = ("--network", "unshaped", "--stack", stack, "--no-capture")
    loaded = load(str(site), *words, out=tmp_path / "out")
    assert {each["protocol"] for each in loaded["objects"]} == {protocol}
    assert {each["status"] for each in loaded["objects"]} == {200}
    (record,) = (each.record for each in iterate_trials(loaded["kept_in"]))
    used = [each for each in record["connections"] if each["ready_at_ns"] is not None]
    assert {each["protocol"] for each in used} == {protocol}
    assert {each["address"] for each in used} == {f"[{ADDRESS}]:443"}
    assert sum(each["match"] == "exact" for each in record["requests"]) == len(BODIES)
