"""Each script stands in its room, and what a room promises holds."""

import os
import subprocess
import sys

from repository import ROOT

import scripts

SCRIPTS = ROOT / "scripts"
ROOMS = sorted(folder for folder in SCRIPTS.iterdir() if any(folder.glob("*.py")))
WITH_COMMAND = sorted(
    f"scripts.{file.parent.name}.{file.stem}"
    for file in SCRIPTS.glob("*/*.py")
    if '__name__ == "__main__"' in file.read_text(encoding="utf-8")
)


def test_the_first_file_says_what_each_room_holds():
    said = [line.split()[0] for line in scripts.__doc__.splitlines() if line.startswith("    ")]
    assert sorted(said) == [room.name for room in ROOMS]


def test_every_check_is_a_line_of_the_checks():
    lines = (SCRIPTS / "check").read_text(encoding="utf-8").splitlines()
    checks = [name for name in WITH_COMMAND if name.startswith("scripts.checks.")]
    assert checks and [name for name in checks if f"python -m {name}" not in lines] == []


def test_a_script_is_found_by_its_whole_name_alone():
    command = [sys.executable, "-P", "-c", f"import {', '.join(WITH_COMMAND)}"]
    only = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=only, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_its_help_says_how_it_is_called():
    command = [sys.executable, "-m", "scripts.checks.links", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: python -m scripts.checks.links [-h]")
