from pathlib import Path

import pytest
from repository import ROOT

from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE as CHROMIUM
from eyelevel.browser.firefox.process import EXECUTABLE_VARIABLE as FIREFOX
from eyelevel.errors import ExpectedError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.run.study import prepare
from eyelevel.sites.recorded import open_site

PLAN = """
title = "Which browser?"
sites = ["{site}"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 1
browser = "{browser}"
"""


def test_without_a_browser_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHROMIUM, str(tmp_path / "none"))
    site = ROOT / "vectors" / "golden" / "small.wacz"
    plan = parse_plan(PLAN.format(site=site, browser="chromium"), "plan.toml")
    with pytest.raises(ExpectedError, match="none"):
        prepare.prepare(plan, [open_site(str(site))], tmp_path / "run", resume=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("browser", "variable"), [("chromium", CHROMIUM), ("firefox", FIREFOX)])
def test_the_environment_names_the_browser_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, browser: str, variable: str
) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho the {browser} of this plan\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv(variable, str(program))
    monkeypatch.setattr(prepare, "short_validation", dict)
    written = {}
    monkeypatch.setattr(
        prepare, "write_document", lambda _, name, text: written.update({name: text})
    )
    site = ROOT / "vectors" / "golden" / "small.wacz"
    plan = parse_plan(PLAN.format(site=site, browser=browser), "plan.toml")
    prepare.prepare(plan, [open_site(str(site))], tmp_path / "run", resume=False)
    versions = written[prepare.ENVIRONMENT_FILE]["versions"]
    assert versions["browser"] == f"the {browser} of this plan"
