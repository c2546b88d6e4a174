"""A load with a suspended process does not count, and its record has the process and the time."""

import json
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from loads import COMMAND
from needed_browser import needs
from own_cgroup import new_cgroup
from suspend import OF_CHROMIUM, SUSPEND_S, loading_lab, main_process, of_kind, suspend
from timeouts import TEST_TIMEOUT_S

from eyelevel.load.servers.known import PROGRAMS, find_start
from eyelevel.load.servers.recipes import RECIPES
from eyelevel.store.directory import iterate_trials

SITE = "synthetic:objects=8,object_bytes=20000,origins=2"
LOAD = ("load", SITE, "--network", "3gslow", "--out")
"""Five seconds: long enough for a few suspensions one after another."""

PLAN = """
sites = ["{site}"]
networks = ["3gslow"]
stacks = [{{ name = "theirs", base = "quic", external_server = {{ command = {command}, \
protocols = ["h3"], paths = {paths} }} }}]
reference = "theirs"
blocks = 1
capture = false
"""

pytestmark = pytest.mark.usefixtures("labs")


@contextmanager
def loading(*command: str) -> Iterator["subprocess.Popen[str]"]:
    """A command that loads once."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, *command], text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def judged(process: "subprocess.Popen[str]", out: Path) -> dict[str, Any]:
    """The record, whose load has to be starved by a suspension."""
    _, errors = process.communicate(timeout=TEST_TIMEOUT_S)
    (stored,) = list(iterate_trials(out)) or [errors]
    record = stored.record
    assert record["outcome"] == "starved", record["outcome_detail"]
    assert "was suspended for" in record["outcome_detail"]
    return record


def suspensions(record: dict[str, Any]) -> dict[str, float]:
    return {each["process"]: each["ms"] for each in record["host"]["suspended"]}


def test_each_process_of_a_load_in_chromium_is_noticed(tmp_path: Path) -> None:
    with loading(*LOAD, str(tmp_path)) as process:
        lab = loading_lab(process.pid)
        browser = main_process(process.pid, "chromium")
        pids = {name: of_kind(process.pid, word) for name, word in OF_CHROMIUM.items()}
        for pid in (browser, *pids.values(), lab, process.pid):
            suspend(pid)
        record = judged(process, tmp_path)
    found = suspensions(record)
    driver = [name for name in found if name.startswith("the process that drives the load (")]
    assert set(found) == {"chromium", *pids, "the lab", *driver} and len(driver) == 1
    assert all(found.values())


@pytest.mark.full
def test_each_process_of_a_load_in_firefox_is_noticed_and_its_screen(tmp_path: Path) -> None:
    needs("firefox")
    if absent := [name for name in ("Xvfb", "ffmpeg") if shutil.which(name) is None]:
        pytest.skip(f"not installed: {', '.join(absent)}")
    with loading(*LOAD, str(tmp_path), "--browser", "firefox") as process:
        loading_lab(process.pid)
        main, content = (
            main_process(process.pid, "firefox-esr"),
            of_kind(process.pid, "-contentproc"),
        )
        names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in (main, content)}
        for pid in (*names, of_kind(process.pid, "Xvfb"), of_kind(process.pid, "x11grab")):
            suspend(pid)
        record = judged(process, tmp_path)
    assert set(suspensions(record)) == {*names.values(), "Xvfb", "ffmpeg"}


def test_somebody_elses_server_is_noticed(tmp_path: Path) -> None:
    start = find_start(PROGRAMS["aioquic"], RECIPES["aioquic"].file)
    if start is None:
        pytest.skip("aioquic is not installed: pip install -r requirements-dev.lock")
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    command, paths = json.dumps(start.command), json.dumps(start.paths)
    plan.write_text(PLAN.format(site=SITE, command=command, paths=paths))
    with loading("run", str(plan), "--out", str(out), "--retries", "0") as process:
        loading_lab(process.pid)
        suspend(of_kind(process.pid, "h3_aioquic.py"))
        record = judged(process, out)
    assert [name.split()[0] for name in suspensions(record)] == [Path(start.command[0]).name]


@pytest.fixture
def cgroup() -> Iterator[Path]:
    with new_cgroup() as folder:
        yield folder


def test_a_frozen_cgroup_is_noticed(tmp_path: Path, cgroup: Path) -> None:
    """As of a container that is paused, or of a machine: nobody in it is stopped by a signal."""
    with loading(*LOAD, str(tmp_path)) as process:
        (cgroup / "cgroup.procs").write_text(str(process.pid))
        loading_lab(process.pid)
        (cgroup / "cgroup.freeze").write_text("1")
        select.select([], [], [], SUSPEND_S)
        (cgroup / "cgroup.freeze").write_text("0")
        record = judged(process, tmp_path)
    assert set(suspensions(record)) == {"the lab"}
