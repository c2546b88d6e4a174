"""A page partly over http, in real browsers: each object comes as it was recorded, cleartext over
HTTP/1.1 with every stack, https over the stack's protocol."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from loads import load
from mixed_site import ADDRESSES, LISTED, PLAIN, SECURE, pack_mixed
from pages import image

from eyelevel.analysis.metrics.network import cleartext_share
from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.sites.check import STACKS, check_page
from eyelevel.sites.pack import SyntheticExchange, pack_site
from eyelevel.sites.recorded import site_info

pytestmark = pytest.mark.usefixtures("labs")
BLOCKED = {f"{PLAIN}/script.js", f"{LISTED}/analytics.js"}
"""Of a secure page: browsers block http scripts there, and frames before they ask for them."""


def protocols(trial: dict[str, Any]) -> dict[str, str | None]:
    found = {}
    for item in trial["objects"]:
        if item["from"] == "network":
            found[item["url"]] = item["protocol"]
    return found


def check_all_as_recorded(trial: dict[str, Any], archive: Path, stack: str) -> None:
    expected = STACKS_BY_NAME[stack].protocol
    found = protocols(trial)
    assert len(found) == site_info(archive)["objects"] == 8
    for url, protocol in found.items():
        assert protocol == (expected if url.startswith("https:") else "http/1.1"), url
    assert {request["match"] for request in trial["requests"]} == {"exact"}
    schemes = {request["connection"]: request["url"][:5] for request in trial["requests"]}
    for connection in trial["connections"]:
        in_force, plain = connection["in_force"], connection["scheme"] == "http"
        if connection["connection"] in schemes:
            assert plain == (schemes[connection["connection"]] == "http:")
        if plain:
            assert connection["protocol"] == "http/1.1" and in_force["tls_version"] is None
    share = cleartext_share(trial)
    assert share is not None and 0 < share < 1


@pytest.mark.parametrize("stack", ["http1", "tcp", "tcp+", "quic"])
def test_an_http_page_loads_both_as_they_were_recorded(stack: str, tmp_path: Path) -> None:
    archive = pack_mixed(tmp_path, "http")
    trial = load(str(archive), "--stack", stack, "--network", "cable")
    check_all_as_recorded(trial, archive, stack)


@pytest.mark.full
def test_firefox_loads_both_as_they_were_recorded(tmp_path: Path) -> None:
    try:
        find_firefox()
    except BrowserStartError as error:
        pytest.skip(str(error))
    if absent := [name for name in ("Xvfb", "certutil", "ffmpeg") if shutil.which(name) is None]:
        pytest.skip(f"not installed: {', '.join(absent)}")
    archive = pack_mixed(tmp_path, "http")
    options = ("--browser", "firefox", "--stack", "quic", "--network", "cable")
    trial = load(str(archive), *options)
    check_all_as_recorded(trial, archive, "quic")


def test_what_was_recorded_over_http_and_is_asked_for_over_https_is_missed_alike(
    tmp_path: Path,
) -> None:
    page = f"""<!doctype html><link rel=icon href=data:,><h1>A heading</h1>
<img src={SECURE}/picture.png><img src={PLAIN.replace("http:", "https:")}/picture.png>"""
    archive = tmp_path / "asked.wacz"
    exchanges = [
        SyntheticExchange("http://mixed.example/", "text/html", page.encode()),
        SyntheticExchange(f"{SECURE}/picture.png", "image/png", image(90)),
        SyntheticExchange(f"{PLAIN}/picture.png", "image/png", image(20)),
    ]
    pack_site(archive, exchanges, title="asked", addresses=ADDRESSES)
    found = check_page(archive, len(STACKS), quiet_s=0.3)
    assert found.misses_agree and len(found.misses) == 1
    assert found.misses[0].url == "https://plain.example/picture.png"


def test_a_secure_page_has_http_pictures_and_no_http_scripts(tmp_path: Path) -> None:
    archive = pack_mixed(tmp_path, "https")
    found = check_page(archive, len(STACKS), quiet_s=0.3)
    assert found.failure() == "" and found.misses == ()
    for seen in found.loads:
        assert (
            f"{PLAIN}/picture.png" in seen.requested and f"{SECURE}/picture.png" in seen.requested
        )
    unused = {one.url for one in found.use.unused}
    assert unused == BLOCKED | {f"{LISTED}/frame"}
