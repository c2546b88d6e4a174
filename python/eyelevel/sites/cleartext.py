"""Detect recordings of http pages, on which no stack with TLS would be in force."""

from collections.abc import Sequence
from pathlib import Path

from eyelevel.base.errors import PlanError
from eyelevel.lab.binary import run_tool
from eyelevel.plan.stacks import Stack
from eyelevel.sites.recorded import RecordedSite, site_info

MOSTLY = 0.5
"""Share of secure objects below which the page itself is taken to be http."""


def check_secure(stacks: Sequence[Stack], sites: Sequence[RecordedSite]) -> None:
    """Raise `PlanError` if a stack with TLS would load a site without an https origin."""
    secure = next((stack.name for stack in stacks if stack.tls_version != "none"), None)
    recordings = {each.path: each for site in sites for each in site.recordings()}
    plain = [each for each in recordings.values() if secure and secure_share(each.path) == 0]
    if plain:
        raise PlanError(
            [
                f"{site.path}: it was recorded over http only, so `{secure}` and every other "
                "stack would load it in cleartext over HTTP/1.1; make an https site of it: "
                f"eyelevel site import {site.path} --secure --out {site.name}-secure.wacz"
                for site in plain
            ]
        )


def secure_share(recording: Path) -> float:
    """Return the share of a recording's objects that came over https, 0 to 1."""
    return float(site_info(recording)["secure_share"])


def make_secure(recording: Path, out: Path) -> None:
    """Write the recording's https twin, which is marked as altered."""
    run_tool(["archive", "import", str(recording), "--secure", "--out", str(out)])
