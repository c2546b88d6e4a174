"""A recording of http pages is no subject for a comparison of stacks with TLS."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.cli.run import plan as plan_commands
from eyelevel.lab.binary import run_tool
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.sites.contents import check_secure, make_secure, secure_share
from eyelevel.sites.recorded import open_site


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A recording of one page over http."""
    (tmp_path / "page").write_text("<!doctype html><title>plain</title>")
    headers = [["content-type", "text/html"]]
    exchange = {"url": "http://a.example/", "file": "page", "headers": headers}
    about = {"title": "plain", "main_url": exchange["url"], "created_at": "2026-01-01T00:00:00Z"}
    about |= {"addresses": {"a.example": "192.0.2.1"}, "exchanges": [exchange]}
    (tmp_path / "manifest.json").write_text(json.dumps(about))
    out = tmp_path / "plain.wacz"
    run_tool(["archive", "pack", str(tmp_path / "manifest.json"), "--out", str(out)])
    return out


def test_stacks_with_tls_refuse_it_and_name_the_way_out(plain: Path) -> None:
    site = open_site(str(plain))
    stacks = [STACKS_BY_NAME[name] for name in ("http1-plain", "quic")]
    with pytest.raises(PlanError, match=r"over http only, so `quic` .* --secure --out plain-sec"):
        check_secure(stacks, [site])
    check_secure(stacks[:1], [site])


PLAN = """sites = ["{site}"]
networks = ["dsl"]
stacks = ["http1", "quic"]
reference = "http1"
blocks = 2
"""


@pytest.mark.parametrize(
    "command", [plan_commands.check, plan_commands.expand_, plan_commands.estimate]
)
def test_what_a_run_would_refuse_no_command_about_its_plan_accepts(
    command: Callable[[str], None], plain: Path, tmp_path: Path
) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(PLAN.format(site=plain))
    with pytest.raises(PlanError, match="over http only, so `http1` and every other stack"):
        command(str(file))


def test_its_https_twin_is_one_for_every_stack(plain: Path) -> None:
    twin = plain.with_name("twin.wacz")
    make_secure(plain, twin)
    assert (secure_share(plain), secure_share(twin)) == (0.0, 1.0)
    check_secure([STACKS_BY_NAME["quic"]], [open_site(str(twin))])
