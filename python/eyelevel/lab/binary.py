"""Find and run the binary of the data plane."""

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eyelevel.base.errors import LabError

NAME = "eyelevel-lab"
REMEDY = "install eyelevel again; in its source tree: make setup"
DOCTOR = "run `eyelevel doctor` to see what this machine lacks"
TOOL_TIMEOUT_S = 600.0
"""Time limit for one-shot commands, s; the longest, a check of a large site over three
protocols, takes less.
"""


def find_binary() -> str:
    """Return the path of the binary next to this Python, or else of the one on the PATH.

    Raises `LabError` if there is none.
    """
    beside = Path(sys.executable).parent / NAME
    binary = str(beside) if beside.exists() else shutil.which(NAME)
    if binary is None:
        raise LabError(f"cannot find {NAME} beside {sys.executable} or on the PATH: {REMEDY}")
    return binary


@cache
def binary_digest() -> str:
    """Return the SHA-256 of the binary in hexadecimal: another binary may write other bytes."""
    with Path(find_binary()).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def silent_failure(subcommand: str) -> str:
    """Return a message for a command that failed without output, as if killed by a signal."""
    return f"{NAME} {subcommand} failed, and it said nothing; {DOCTOR}"


def run_tool(
    arguments: Sequence[str],
    *,
    accept: Sequence[int] = (0,),
    prints_json: bool = True,
    within_s: float = TOOL_TIMEOUT_S,
) -> Any:
    """Run a one-shot command of the binary; returns the JSON that it prints, or None.

    Raises `LabError` with the command's own message if its exit status is not in `accept`, and if
    it takes longer than `within_s`.
    """
    command = [find_binary(), *arguments]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=within_s, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(command)} took longer than {within_s:g} s; {DOCTOR}") from error
    if process.returncode not in accept:
        message = process.stderr.strip() or process.stdout.strip()
        # Its own message is last; a library may have printed something before.
        raise LabError(message.rpartition(f"{NAME}: ")[2] or silent_failure(arguments[0]))
    if not prints_json:
        return None
    try:
        return json.loads(process.stdout)
    except ValueError as error:
        raise LabError(
            f"{' '.join(command)} printed no JSON: {process.stdout[:200]!r}; {REMEDY}"
        ) from error
