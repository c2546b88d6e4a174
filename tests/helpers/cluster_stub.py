"""Loads that are made up, for slots of a real cluster, and what befalls them by block and attempt.

The site's recording is `script.json`: it has for each block what its attempts meet, and the folder
of `attempts`, a file for each that began, made exclusively, with the numbers of its process and of
that one's parent; `gates`,
FIFOs of those that wait; and `small`, a small disk, where a test has one.
"""

import json
import os
import select
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from distributed import get_worker
from synthetic_run import record_of

from eyelevel.load.trial import TrialResult
from eyelevel.plan.trials import Trial
from eyelevel.run.block import attempts
from eyelevel.run.block.load import SLOT_VARIABLE, TooLargeError
from eyelevel.run.machines.fleet import MachineDescription
from eyelevel.store.frames import Frame, Frames
from eyelevel.store.packed import PackedTrial

SCRIPT, ATTEMPTS, GATES, SMALL = "script.json", "attempts", "gates", "small"


def made_up(trial: Trial, pictures: int = 0) -> TrialResult:
    """Return the result of a trial, the same each time; with large pictures if asked for."""
    draw = np.random.Generator(np.random.PCG64(trial.seed))
    record = record_of(trial, 1000.0 + 20.0 * float(draw.standard_normal()))
    shade = sum(map(ord, trial.stack)) % 256
    frames = [Frame(0.0, np.zeros((8, 8, 3), np.uint8))]
    frames.append(Frame(400.0, np.full((8, 8, 3), shade, np.uint8)))
    return TrialResult(record, Frames.of(_drawn(pictures, shade) if pictures else frames))


def _drawn(count: int, shade: int) -> list[Frame]:
    """A page that comes line by line."""
    page = np.full((768, 1366, 3), 255, np.uint8)
    frames = []
    for number in range(count):
        height = 768 // count
        page = page.copy()
        page[number * height :][:height, 40 : 400 + 20 * (number % 9)] = shade
        frames.append(Frame(40.0 * number, page))
    return frames


def load(trial: Trial, archive: str, **_: Any) -> TrialResult:
    """Load a trial in place of `run_trial`."""
    script = json.loads(Path(archive).read_text())
    folder = Path(script["folder"])
    block = trial.block.replace("/", "_")
    attempt = _attempt(folder, block, is_first=trial.position == 1)
    fates = script.get(trial.block, [])
    fate = fates[attempt] if attempt < len(fates) else ""
    last = trial.position == script["stacks"]
    select.select([], [], [], script.get("wait_s", 0.0))
    if trial.position == 1 and os.environ.get(SLOT_VARIABLE) in script.get("dying slots", []):
        _kill(os.getpid())
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
        case "stops" if trial.position == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        case "stops with its nanny" if trial.position == 2:
            os.kill(os.getppid(), signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
        case "waits" if trial.position == 2:
            with (folder / GATES / f"{block}.{attempt}").open("rb") as gate:
                gate.read()  # until who opens it for writing closes it
        case "fails" if trial.position == 2:
            raise RuntimeError("a fault of the program")
        case "leaves too much" if trial.position == 2:
            raise TooLargeError("a block may leave 1 GiB")
        case "finds a full disk" if trial.position == 2:
            _fill(folder / SMALL)
        case "damages its answer" if trial.position == 2:
            _damage_what_is_packed_next()
    found = made_up(trial, script.get("pictures", 0))
    if os.environ.get(SLOT_VARIABLE) in script.get("starved slots", []):
        found.record.update(outcome="starved", outcome_detail="made up")
    return found


def _damage_what_is_packed_next() -> None:
    pack = attempts.pack

    def damaged(*arguments: Any) -> PackedTrial:
        attempts.pack = pack
        packed = pack(*arguments)
        name, content = next(iter(packed.files.items()))
        middle = len(content) // 2
        other = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        return replace(packed, files={**packed.files, name: other})

    attempts.pack = damaged


def _fill(disk: Path) -> None:
    with (disk / "written by a load").open("wb") as file:
        while True:
            file.write(bytes(65536))
            file.flush()


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def _attempt(folder: Path, block: str, *, is_first: bool) -> int:
    """The attempt at the block that is under way, from 0 on; its first load begins a new one."""
    there = len(list((folder / ATTEMPTS).glob(f"{block}.*")))
    if not is_first:
        return there - 1
    with (folder / ATTEMPTS / f"{block}.{there}").open("x") as file:
        file.write(f"{os.getpid()} {os.getppid()}")
    return there


def here() -> tuple[str, int]:
    """The ID of the machine and the number of the slot that this process is."""
    machine, _, number = os.environ[SLOT_VARIABLE].rpartition("/")
    return machine, int(number)


@dataclass(frozen=True)
class Questions:
    """All machines are alike, but for those that have other `kernels` or `load_ms`, by ID."""

    kernels: Mapping[str, str] = field(default_factory=dict)
    load_ms: Mapping[str, float] = field(default_factory=dict)

    def describe_machine(self) -> MachineDescription:
        kernel = self.kernels.get(here()[0], "6.1")
        return MachineDescription(
            {"kernel": kernel}, (), {"versions": {"kernel": kernel}, "cores": 64}
        )

    def measure_loads(self) -> list[tuple[float, float]]:
        return [(self.load_ms.get(here()[0], 1000.0), 2.0)] * 5


class OfItsProcess(Questions):
    """Questions that return as facts a slot's cgroup and the limits of Dask's worker there."""

    def describe_machine(self) -> MachineDescription:
        worker = get_worker()
        return MachineDescription(
            {
                "cgroup": Path("/proc/self/cgroup").read_text(),
                "threads": str(worker.state.nthreads),
                "memory limit": str(worker.memory_manager.memory_limit),
            }
        )
