"""The script that is the command: what it starts, wherever it was called from."""

import subprocess
from pathlib import Path

import pytest
from repository import ROOT

SCRIPT = ROOT / "packaging" / "eyelevel.data" / "scripts" / "eyelevel"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The script beside programs that say what they were asked."""
    folder = tmp_path / "bin of an environment"
    folder.mkdir()
    for name in ("eyelevel-lab", "python3"):
        (folder / name).write_text(f'#!/bin/sh\nprintf "{name}"\nprintf " <%s>" "$@"\n')
    (folder / "eyelevel").write_bytes(SCRIPT.read_bytes())
    for file in folder.iterdir():
        file.chmod(0o755)
    return folder / "eyelevel"


@pytest.mark.parametrize(
    ("words", "started"),
    [
        (("path", "--rtt", "2 ms", "ls"), "eyelevel-lab <shell> <--rtt> <2 ms> <ls>"),
        (("path",), "eyelevel-lab <shell>"),
        (("path", "plot", "a log"), "python3 <-m> <eyelevel> <path> <plot> <a log>"),
        (("path", "fates", "x"), "python3 <-m> <eyelevel> <path> <fates> <x>"),
        (("load", "path"), "python3 <-m> <eyelevel> <load> <path>"),
    ],
)
def test_a_shell_starts_without_python(installed: Path, words: tuple[str, ...], started: str):
    link = installed.parent.parent / "linked"
    link.symlink_to(installed)
    for command in (installed, link):
        done = subprocess.run([command, *words], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == started


def test_a_link_to_the_binary_beside_the_link_is_not_taken_for_the_environment(installed: Path):
    tools = installed.parent.parent / "tools"
    tools.mkdir()
    for name in ("eyelevel", "eyelevel-lab"):
        (tools / name).symlink_to(installed.with_name(name))
    done = subprocess.run([tools / "eyelevel", "load"], capture_output=True, text=True, check=True)
    assert done.stdout == "python3 <-m> <eyelevel> <load>"


def test_python_is_on_the_path_where_none_is_beside_the_script(installed: Path):
    (installed.parent / "python3").rename(installed.parent.parent / "python3")
    environment = {"PATH": f"{installed.parent.parent}:/usr/bin:/bin"}
    done = subprocess.run(
        [installed, "load"], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "python3 <-m> <eyelevel> <load>"


def test_without_words_python_shows_the_help(installed: Path):
    done = subprocess.run([installed], capture_output=True, text=True, check=True)
    assert done.stdout == "python3 <-m> <eyelevel>"
