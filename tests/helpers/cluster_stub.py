"""Loads that are made up, for slots of a real cluster, and what befalls them by block and attempt.

The site's recording is `script.json`: it has for each block what its attempts meet, and the folder
of `attempts`, an empty file for each that began, made exclusively, and `gates`, FIFOs of those that
wait.
"""

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from made_up_run import record_of

from eyelevel.plan.trials import Trial
from eyelevel.run.trial.trial import TrialResult
from eyelevel.store.frames import Frame, Frames

SCRIPT, ATTEMPTS, GATES = "script.json", "attempts", "gates"


def made_up(trial: Trial) -> TrialResult:
    """The same for the same trial."""
    draw = np.random.Generator(np.random.PCG64(trial.seed))
    record = record_of(trial, 1000.0 + 20.0 * float(draw.standard_normal()))
    shade = sum(map(ord, trial.stack)) % 256
    frames = [Frame(0.0, np.zeros((8, 8, 3), np.uint8))]
    frames.append(Frame(400.0, np.full((8, 8, 3), shade, np.uint8)))
    return TrialResult(record, Frames.of(frames))


def load(trial: Trial, archive: str, **_: Any) -> TrialResult:
    """In the place of `run_trial`."""
    script = json.loads(Path(archive).read_text())
    folder = Path(script["folder"])
    block = trial.block.replace("/", "_")
    attempt = _attempt(folder, block, is_first=trial.position == 1)
    fates = script.get(trial.block, [])
    fate = fates[attempt] if attempt < len(fates) else ""
    last = trial.position == script["stacks"]
    match fate:
        case "killed before" if trial.position == 1:
            _kill(os.getpid())
        case "killed amid" if trial.position == 2:
            _kill(os.getpid())
        case "killed at its end" if last:
            _kill(os.getpid())
        case "killed with its nanny" if trial.position == 2:
            _kill(os.getppid())
            _kill(os.getpid())
        case "waits" if trial.position == 2:
            with (folder / GATES / f"{block}.{attempt}").open("rb") as gate:
                gate.read()  # until who opens it for writing closes it
        case "fails" if trial.position == 2:
            raise RuntimeError("a fault of the program")
    return made_up(trial)


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _attempt(folder: Path, block: str, *, is_first: bool) -> int:
    """The attempt at the block that is under way, from 0 on; its first load begins a new one."""
    there = len(list((folder / ATTEMPTS).glob(f"{block}.*")))
    if not is_first:
        return there - 1
    (folder / ATTEMPTS / f"{block}.{there}").open("x").close()
    return there


class Questions:
    """All machines are alike."""

    def shown(self) -> tuple[dict[str, str], tuple[str, ...]]:
        return {"kernel": "6.1"}, ()

    def loads(self) -> list[tuple[float, float]]:
        return [(1000.0, 2.0)] * 5
