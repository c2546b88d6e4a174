"""`--version`: what build it is, and the browser that it would use."""

import re
import subprocess
from importlib.metadata import version

import pytest
from repository import ROOT

from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE
from eyelevel.cli import version as module


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    module.say_version()
    return capsys.readouterr().out.splitlines()


def test_it_says_version_build_and_browser(tmp_path, monkeypatch, capsys):
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\necho Chromium 1.2.3 of nobody\n")
    browser.chmod(0o755)
    monkeypatch.setenv(EXECUTABLE_VARIABLE, str(browser))
    first, build, last = said(capsys)
    assert first == f"eyelevel {version('eyelevel')}"
    assert re.search(r", \w+-linux-(gnu|musl), (release|debug)$", build), build
    assert last == f"browser: Chromium 1.2.3 of nobody ({browser})"
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if head.returncode == 0:
        assert build.startswith(f"build: source tree at {head.stdout.strip()}")


def test_without_a_browser_it_says_how_to_get_one(monkeypatch, capsys):
    monkeypatch.setenv(EXECUTABLE_VARIABLE, "/nowhere/chromium")
    *_, last = said(capsys)
    assert last.startswith("browser: none: looked for a Chromium (/nowhere/chromium)")
    assert "install it" in last


def test_a_build_that_was_told_its_commit_says_that(monkeypatch):
    line = "eyelevel-lab 0.1.0 (commit 0123456789ab, x86_64-linux-gnu, release)"
    monkeypatch.setattr(module, "_first_line", lambda *_: line)
    assert module._build() == "commit 0123456789ab, x86_64-linux-gnu, release"


def test_an_installed_build_without_one_claims_none(monkeypatch, tmp_path):
    monkeypatch.setattr(module.eyelevel, "__file__", str(tmp_path / "lib" / "eyelevel" / "x.py"))
    assert module._build().startswith("no commit recorded, ")
