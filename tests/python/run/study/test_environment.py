import platform
from pathlib import Path

import pytest
from repository import ROOT

from eyelevel.base.errors import ExpectedError
from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE as CHROMIUM
from eyelevel.browser.firefox.process import EXECUTABLE_VARIABLE as FIREFOX
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


def test_of_loads_elsewhere_only_the_client_is_described_and_nothing_is_measured_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody() -> None:
        raise AssertionError("it takes five seconds, and no load is made here")

    monkeypatch.setattr(prepare, "short_validation", nobody)
    site = ROOT / "vectors" / "golden" / "small.wacz"
    plan = parse_plan(PLAN.format(site=site, browser="chromium"), "plan.toml")
    run = tmp_path / "run"
    prepare.prepare(plan, [open_site(str(site))], run, resume=False, loads_here=False)
    written = prepare.read_document(run, prepare.ENVIRONMENT_FILE)
    assert set(written) <= {"version", "client", "altered_sites", "secure_shares"}
    assert written["client"]["versions"]["kernel"] == platform.release()


def test_the_environment_names_the_browser_of_each_variant_with_another_one(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho Chromium {name}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    variants = (
        '[{ name = "main" }, { name = "quiet", browser = { javascript = false } }, '
        f'{{ name = "a", browser = {{ chromium = "{tmp_path / "old"}" }} }}, '
        f'{{ name = "b", browser = {{ chromium = "{tmp_path / "new"}" }} }}]'
    )
    text = PLAN.format(site="agency", browser="chromium").replace('"tcp"\n', '"main"\n')
    plan = parse_plan(f"{text}variants = {variants}\n", "plan.toml")
    browsers = prepare.list_variant_browsers(plan)
    assert prepare.read_variant_browsers(browsers) == {"a": "Chromium old", "b": "Chromium new"}


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
