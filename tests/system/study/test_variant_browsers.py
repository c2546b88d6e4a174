"""Variants that differ in their browser: what each of their loads requested, and in which one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from loads import GOOD
from pages import image
from small_site import BODIES, PAGE, pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.store.directory import iterate_trials

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
WIDTH_MAX_PX = 500
NARROW, WIDE = "narrow.png", "wide.png"
RESPONSIVE = {
    **BODIES,
    "": (
        "text/html",
        PAGE.replace(
            b"<h1>",
            b"<meta name=viewport content='width=device-width'><picture>"
            b"<source media='(max-width: %dpx)' srcset=/narrow.png>"
            b"<img src=/wide.png></picture><h1>" % WIDTH_MAX_PX,
        ),
    ),
    NARROW: ("image/png", image(10)),
    WIDE: ("image/png", image(20)),
}
"""The page requests one picture in a narrow viewport and another one in a wide one."""
PLAN = """\
sites = ["{site}"]
networks = ["dsl"]
stacks = ["tcp+"]
variants = [
    {{ name = "laptop", browser = {{ device = "desktop" }} }},
    {{ name = "phone", browser = {{ device = "moto-g", cpu_slowdown = 1 }} }},
]
reference = "laptop"
blocks = 1
"""


def run(folder: Path, *words: str) -> dict[str, dict]:
    """Return the record of one load of each variant."""
    done = subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    loads = [each.record for each in iterate_trials(folder / "out")]
    assert {each["outcome"] for each in loads} <= set(GOOD), loads
    return {each["trial"]["variant"]: each for each in loads}


def test_each_variant_has_the_viewport_of_its_own_device(labs: None, tmp_path: Path) -> None:
    site = pack_small_site(tmp_path, RESPONSIVE)
    (tmp_path / "plan.toml").write_text(PLAN.format(site=site), encoding="utf-8")
    loads = run(tmp_path, "run", "plan.toml", "--out", "out")
    for variant, own, other in (("laptop", WIDE, NARROW), ("phone", NARROW, WIDE)):
        names = {Path(item["url"]).name for item in loads[variant]["objects"]}
        assert own in names and other not in names


def test_a_question_about_the_browser_loads_in_both(labs: None, tmp_path: Path) -> None:
    try:
        find_firefox()
    except BrowserStartError as error:
        pytest.skip(str(error))
    site = pack_small_site(tmp_path, BODIES)
    words = ["--networks", "dsl", "--blocks", "2", "--out", "out", "--inconclusive", "pass"]
    loads = run(tmp_path, "ask", str(site), "--change", "browser:firefox", *words)
    product = {variant: load["versions"]["browser"] for variant, load in loads.items()}
    assert product["as-planned"].split("/")[0] != "Firefox"
    assert product["browser-firefox"].startswith("Firefox/")
    environment = json.loads((tmp_path / "out" / "environment.json").read_text(encoding="utf-8"))
    assert "Firefox" in environment["variant_browsers"]["browser-firefox"]
