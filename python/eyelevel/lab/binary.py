"""Find and run the binary of the data plane."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eyelevel.errors import LabError

NAME = "eyelevel-lab"
TOOL_TIMEOUT_S = 600.0
"""For one-shot commands; the longest, a check of a large site over three protocols, takes less."""


def find_binary() -> str:
    """The binary beside this Python, else the one on the PATH.

    Raises LabError if there is none.
    """
    beside = Path(sys.executable).parent / NAME
    found = str(beside) if beside.exists() else shutil.which(NAME)
    if found is None:
        raise LabError(f"cannot find {NAME}: build it with `make setup`")
    return found


def run_tool(
    arguments: Sequence[str], *, accept: Sequence[int] = (0,), says_json: bool = True
) -> Any:
    """Run a one-shot command of the binary and return the JSON that it prints; None of one that
    prints none.

    Raises LabError with the command's own message where its exit status is not in `accept`.
    """
    command = [find_binary(), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TOOL_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(command)} took longer than {TOOL_TIMEOUT_S:g} s") from error
    if done.returncode not in accept:
        message = done.stderr.strip() or done.stdout.strip() or "it said nothing"
        raise LabError(message.removeprefix(f"{NAME}: "))
    if not says_json:
        return None
    try:
        return json.loads(done.stdout)
    except ValueError as error:
        raise LabError(f"{' '.join(command)} printed no JSON: {done.stdout[:200]!r}") from error
