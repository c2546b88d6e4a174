"""A site that a lab serves is recorded, and its replay lacks nothing."""

import json
import subprocess
import sys

import pytest
from answers import answers
from generated_site import API, IMAGES, MAIN, STATIC, WWW, pack_generated_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.sites.check import STACKS, check_page

pytestmark = pytest.mark.full

TEN = 10


@pytest.fixture
def recorded(new_lab, tmp_path):
    """The recording of the made site, what `record` said of it, and what was served."""
    out, authority = tmp_path / "recorded.wacz", tmp_path / "ca.pem"
    script = tmp_path / "steps.txt"
    script.write_text("# What a visitor does.\nscroll end\n\nclick #more\n", encoding="ascii")
    served = pack_generated_site(tmp_path)
    with new_lab(site=served) as lab:
        authority.write_text(lab.ready.ca_certificate, encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record", MAIN]
        command += ["--allow", "192.0.2.0/24", "--allow", "198.51.100.0/24"]
        command += ["--out", str(out), "--upstream-ca", str(authority), "--wait-idle", "1s"]
        command += ["--script", str(script)]
        done = subprocess.run(
            [*command, "--json"],
            capture_output=True,
            text=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return out, json.loads(done.stdout), served


def without_queries(answered):
    """Scripts make up the queries anew in each visit."""
    return {url.partition("?")[0]: said for url, said in answered.items()}


def test_ten_loads_of_a_recorded_site_ask_for_the_same_urls_and_miss_none(recorded, tmp_path):
    archive, info, served = recorded
    assert info["main_url"] == MAIN and len(info["origins"]) == 5
    assert info["objects"] == 14, "all that was served: the worker's and the click's, too"
    before, after = (answers(each, tmp_path) for each in (served, archive))
    assert without_queries(after) == without_queries(before), "as it was served, coded as it was"
    codings = {dict(fields).get("content-encoding") for _, fields, _ in after.values()}
    assert codings == {None, "gzip", "br", "zstd"}
    found = check_page(archive, TEN, quiet_s=0.3)
    assert [load.detail for load in found.loads if load.ended != "complete"] == []
    assert {load.http_version for load in found.loads} == set(STACKS)
    assert found.misses == () and found.failure() == ""
    assert found.varying_requests == {}
    asked = {url.partition("?")[0] for url in found.loads[0].requested}
    wanted = {MAIN, f"{WWW}/", f"{STATIC}/style.css", f"{STATIC}/app.js", f"{STATIC}/made.woff2"}
    wanted |= {f"{IMAGES}/{name}.png" for name in ("moved", "there", "far", "back")}
    assert wanted | {f"{API}/items", f"{API}/time"} <= asked
    # The page's randomness is held; its clock runs on.
    assert len({url for load in found.loads for url in load.requested if "/items?" in url}) == 1
    assert found.values_differ == (f"{API}/time?now&id",)
