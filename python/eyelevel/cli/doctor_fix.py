"""Show the package manager's commands, and run them on consent (`eyelevel doctor --fix`)."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from eyelevel.base.errors import InstallError
from eyelevel.cli.output import hints, say
from eyelevel.cli.packages import MANAGERS, os_release, remedy

OS_RELEASE = Path("/etc/os-release")


def fix(absent: Sequence[str], yes: bool) -> None:
    """Install the packages for `absent`, keys of `packages.PACKAGES`; all output goes to stderr.

    Raises `InstallError` if that is not permitted, not possible, or declined.
    """
    system = os_release(OS_RELEASE.read_text(encoding="utf-8")) if OS_RELEASE.exists() else {}
    managers = [name for name in MANAGERS if shutil.which(name)]
    found = remedy(absent, system, managers)
    for remark in found.remarks:
        say(hints, remark)
    if not found.commands:
        if not found.remarks:
            say(hints, "nothing to install: browser and fonts are there")
        return
    before = () if os.geteuid() == 0 else ("sudo",)
    commands = [(*before, *command) for command in found.commands]
    for command in commands:
        say(hints, f"$ {shlex.join(command)}")
    if not found.is_tried:
        raise InstallError(
            "this command was not tried by us, so it is not done for you: run it as shown, then "
            "eyelevel doctor"
        )
    if before and shutil.which("sudo") is None:
        raise InstallError("nothing was installed: run the lines above as root, without sudo")
    _agree(yes)
    for command in commands:
        _run(command, may_fail=command is not commands[-1])


def _agree(yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise InstallError("nothing was installed: nobody can be asked here; add --yes")
    if not typer.confirm("Do this now?", default=True, err=True):
        raise InstallError("nothing was installed; run it again to be asked")


def _run(command: Sequence[str], *, may_fail: bool) -> None:
    """Run a command.

    `may_fail`: a failure to refresh the package lists is ignored, since installing from stale lists
    fails by itself.
    """
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # The package manager's output goes to stderr: standard output is for results.
    done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)
    if done.returncode != 0 and not may_fail:
        raise InstallError(
            f"{shlex.join(command)} failed, for the reason above: mend it, try again"
        )
