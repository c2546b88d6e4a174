"""Print versions for `eyelevel --version`: eyelevel's, the build's, and the browser's."""

import subprocess
from importlib.metadata import version
from pathlib import Path

import eyelevel
from eyelevel.base.errors import BrowserStartError, LabError
from eyelevel.browser.chromium.process import find_executable
from eyelevel.cli.output import results, say
from eyelevel.lab.binary import find_binary

TIMEOUT_S = 10.0
COMMIT_HEX = 12


def say_version() -> None:
    """Print three lines, each with a remedy for what is missing."""
    say(results, f"eyelevel {version('eyelevel')}")
    say(results, f"build: {_build()}")
    say(results, f"browser: {_browser()}")


def _build() -> str:
    """Return the build, such as `commit 0123456789ab, x86_64-linux-gnu, release`."""
    try:
        binary = _first_line(find_binary(), "--version").partition("(")[2].rstrip(")")
    except LabError as error:
        return str(error)
    if binary.startswith("commit "):
        return binary
    tree = _commit_of_tree()
    commit = f"source tree at {tree}" if tree else "no commit recorded"
    return ", ".join(filter(None, (commit, binary)))


def _commit_of_tree() -> str:
    """Return the commit of this package's source tree; "" if installed, or without git."""
    root = Path(eyelevel.__file__).parents[2]
    if not (root / ".git").exists():
        return ""
    describe = (
        "describe",
        "--always",
        "--exclude=*",
        f"--abbrev={COMMIT_HEX}",
        "--dirty=, changed",
    )
    return _first_line("git", "-C", str(root), *describe)


def _browser() -> str:
    try:
        executable = find_executable()
    except BrowserStartError as error:
        return f"none: {error}"
    return f"{_first_line(executable, '--version') or 'says no version'} ({executable})"


def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n", 1)[0] if done.returncode == 0 else ""
