"""`--open` on a terminal: what opens files is a program on the PATH, and it says what it got."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from timeouts import TEST_TIMEOUT_S

ENDS = """
import sys
from pathlib import Path
from eyelevel.cli.finish import ending_at
with ending_at("report", Path(sys.argv[1]), opens=True):
    sys.exit(3)
"""
"""A verdict ends the command, as a gate's does, and still its last line is where the result is."""


def ends(place: Path, environment: dict[str, str], *, on_terminal: bool = True) -> tuple[str, str]:
    """Standard output and standard error of a command that ends at a place."""
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    with os.fdopen(ours, "rb", closefd=True) as said:
        done = subprocess.run(
            [sys.executable, "-c", ENDS, str(place)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            text=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
            env={"PATH": "", **environment},
        )
        os.close(theirs)
        try:
            error = said.read1(65536).decode()
        except OSError:  # what a terminal that is closed and empty reads
            error = ""
    assert done.returncode == 3
    return done.stdout, error.replace("\r\n", "\n")


@pytest.fixture
def desk(tmp_path: Path) -> dict[str, str]:
    """A PATH with an `xdg-open` that keeps what it got."""
    opener = tmp_path / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/got\nexit ${{FAILS:-0}}\n')
    opener.chmod(0o755)
    return {"PATH": str(opener.parent)}


def got(folder: Path) -> list[str]:
    file = folder / "got"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize("display", ["DISPLAY", "WAYLAND_DISPLAY"])
def test_a_desk_opens_it(tmp_path: Path, desk: dict[str, str], display: str):
    place = tmp_path / "a run" / "report#1.html"
    said, error = ends(place, {**desk, display: ":0"})
    assert said == f"report: {place}\n" and error == ""
    assert got(tmp_path) == [f"file://{tmp_path}/a%20run/report%231.html"]


def test_the_callers_browser_comes_first(tmp_path: Path, desk: dict[str, str]):
    browser = f"absent-browser:{desk['PATH']}/xdg-open --new-window %s"
    ends(tmp_path / "r.html", {**desk, "BROWSER": browser})
    assert got(tmp_path) == ["--new-window", f"file://{tmp_path}/r.html"]


def test_where_nothing_opens_it_the_path_is_said(tmp_path: Path, desk: dict[str, str]):
    place = tmp_path / "r.html"
    cases = [
        ({**desk}, True, "no display and no $BROWSER here"),
        ({"DISPLAY": ":0"}, True, "no display and no $BROWSER here"),
        ({**desk, "DISPLAY": ":0"}, False, "nobody sits at this terminal"),
    ]
    for environment, on_terminal, why in cases:
        said, error = ends(place, environment, on_terminal=on_terminal)
        assert said == f"report: {place}\n" and why in error and f"file://{place}" in error
    assert got(tmp_path) == []


def test_a_desk_that_cannot_open_it_is_told(tmp_path: Path, desk: dict[str, str]):
    _, error = ends(tmp_path / "r.html", {**desk, "DISPLAY": ":0", "FAILS": "4"})
    assert "xdg-open could not open it (exit status 4)" in " ".join(error.split())
