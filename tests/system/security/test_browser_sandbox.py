"""Browsers keep their own sandboxes, inside of ours."""

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import CORPUS, load_in
from raw_lab import NOBODY
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import find_browser
from eyelevel.browser.processes import PROFILE_PREFIX
from eyelevel.lab.confinement import UNSAFE_VARIABLE, find_unprivileged_user
from eyelevel.plan.browser import Browser

CONTENT = {"chromium": "--type=renderer", "firefox": " tab"}
"""What the command line of a process that runs a page's code has, or will: Firefox keeps some
ready, which put their filter on when they get a page."""


@dataclass(frozen=True)
class Seen:
    """A process of a browser."""

    command: str
    user: int
    filters: int
    capabilities: int
    no_new_privileges: bool
    namespaces: dict[str, str]


def seen_of(pid: str) -> Seen:
    folder = Path("/proc") / pid
    status = dict(
        line.split(":\t", 1)
        for line in (folder / "status").read_text(errors="replace").splitlines()
        if ":\t" in line
    )
    return Seen(
        (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"),
        int(status["Uid"].split()[0]),
        int(status["Seccomp_filters"]),
        int(status["CapEff"], 16),
        status["NoNewPrivs"].strip() == "1",
        {
            kind: str((folder / "ns" / kind).readlink())
            for kind in ("user", "pid", "net", "mnt", "ipc")
        },
    )


def browser_processes() -> list[Seen]:
    """The processes of our own load's browser, the first one first, what confines it left out."""
    seen = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError, KeyError):
                seen.append(seen_of(folder.name))
    ours = f"{PROFILE_PREFIX}{os.getpid()}-"
    seen = [each for each in seen if each.command and " confine " not in each.command]
    named = [each for each in seen if ours in each.command]
    first = next(each for each in named if "--type=" not in each.command)
    # Chromium's are named in further process namespaces, Firefox's are unnamed in the first one's.
    there = first.namespaces["pid"]
    return [first, *(each for each in seen if each in named or each.namespaces["pid"] == there)]


@pytest.mark.parametrize("name", ["chromium", pytest.param("firefox", marks=pytest.mark.full)])
def test_a_page_is_in_the_browsers_sandbox_and_in_ours(new_lab, name):
    browser = Browser(browser=name, capture=False)
    try:
        find_browser(browser)
    except BrowserStartError as error:
        pytest.skip(str(error))
    found: list[Seen] = []
    with new_lab(site=CORPUS / "dashboard.wacz") as lab:
        outside = seen_of(str(lab.ready.init_pid))
        raw = load_in(
            lab, browser=browser, quiet_s=0.1, when_over=lambda _: found.extend(browser_processes())
        )
    assert raw.ended == "complete", raw.detail
    assert len(found) > 2
    user = find_unprivileged_user()
    first = found[0]
    for seen in found:
        assert seen.user == (user[0] if user else os.geteuid()), seen
        assert seen.filters >= 1, seen
        assert seen.no_new_privileges, seen
        for kind in ("user", "pid", "mnt", "ipc"):
            assert seen.namespaces[kind] != outside.namespaces[kind], (kind, seen)
    assert first.namespaces["net"] == outside.namespaces["net"]
    assert first.capabilities == 0
    pages = [seen for seen in found if CONTENT[name] in seen.command]
    assert pages
    assert any(page.filters > 1 for page in pages), pages
    for page in pages:
        assert page.namespaces["user"] != first.namespaces["user"], page
        assert page.namespaces["net"] != first.namespaces["net"], page


def test_only_who_says_so_goes_without(new_lab, monkeypatch):
    monkeypatch.setenv(UNSAFE_VARIABLE, "1")
    found: list[Seen] = []
    with new_lab(site=CORPUS / "dashboard.wacz") as lab:
        raw = load_in(lab, quiet_s=0.1, when_over=lambda _: found.extend(browser_processes()))
    assert raw.ended == "complete", raw.detail
    assert {seen.filters for seen in found} == {0}


def test_an_ordinary_user_loads_a_page(labs):
    """The whole command, as somebody who has no rights at all."""
    command = [sys.executable, "-m", "eyelevel.cli.main", "load", "dashboard", "--network", "lte"]
    done = subprocess.run(
        [*NOBODY, *command],
        cwd="/",
        env={**os.environ, "HOME": "/nonexistent", "EYELEVEL_HOST_WAIT": "0"},
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )
    # Without real-time priority a busy machine starves the path; the page has loaded all the same.
    assert done.stderr.strip() in ("load 1 of 1: ok", "load 1 of 1: starved"), done.stderr


def test_neither_umask_nor_a_long_temporary_folder_keeps_a_browser_from_its_own(
    new_lab, monkeypatch, tmp_path
):
    """A socket's path has 107 characters at most; folders of our making are for it to pass."""
    folder = tmp_path / ("long" * 20)
    folder.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    umask = os.umask(0o077)
    try:
        with new_lab(site=CORPUS / "dashboard.wacz") as lab:
            raw = load_in(lab, quiet_s=0.1)
    finally:
        os.umask(umask)
    assert raw.ended == "complete", raw.detail
    assert not list(folder.iterdir())
