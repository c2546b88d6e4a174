"""Loads by the command. One that says itself that it is worth nothing is done again, as
`eyelevel run` does, a bounded number of times: a busy machine is not what tests are about."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from timeouts import TEST_TIMEOUT_S

from eyelevel.run.block.attempts import RETRIED, RETRIES_MAX

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
GOOD = ("ok", "late-packets", "starved")
"""Outcomes of a load that is sound but for its machine: one that stays busy starves every attempt
or delivers packets late, and all that does not depend on time holds."""


Done = subprocess.CompletedProcess[str]


def one_load(attempt: Callable[[int], Done]) -> tuple[dict[str, Any], Done, int]:
    """Return the load of a command that loads once, with `--json`, the command, and the attempt."""
    for number in range(1 + RETRIES_MAX):
        done = attempt(number)
        assert done.stdout, done.stderr
        (trial,) = json.loads(done.stdout)
        if trial["outcome"] not in RETRIED:
            break
    assert trial["outcome"] in GOOD, trial["outcome_detail"]
    return trial, done, number


def load(*arguments: str, out: Path | None = None, prefix: Sequence[str] = ()) -> dict[str, Any]:
    """Return the load of `eyelevel load`. With `out`, its record is in the only folder there.

    `prefix`: what the command is run by.
    """

    def attempt(number: int) -> Done:
        kept = ("--out", str(out / str(number))) if out else ()
        command = [*prefix, *COMMAND, "load", *arguments, *kept, "--json"]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
        )

    trial, _, number = one_load(attempt)
    trial["kept_in"] = out and out / str(number)
    return trial
