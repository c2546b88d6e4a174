"""A trial's commit: all or nothing, by steps that have names.

The trial's directory is staged under a name of its own, synced and renamed: it is there whole or
not at all, and the first writer wins, on one machine or on many that share the directory. A kill, a
full disk or a lost right at any step leaves no trial or a whole one; `--resume` goes on from both.
"""

import gzip
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from eyelevel.disk.folders import locked_folder
from eyelevel.disk.steps import reached
from eyelevel.disk.whole import DRAFT_PREFIX, sync_directory, umask, write_synced
from eyelevel.json_types import JsonMapping
from eyelevel.store.directory import (
    FRAMES_FILE,
    RECORD_FILE,
    TRIALS,
    check_record,
    json_bytes,
    refusals,
    step_frames_file,
)
from eyelevel.store.frames import Frames
from eyelevel.store.pictures import PICTURES, keep_picture

RECORD_EFFORT = 6


@dataclass
class Stage:
    """A trial on its way from memory to its directory."""

    directory: Path
    """The run's."""
    folder: Path
    """What is written to, under a name that no trial has."""
    record: JsonMapping
    films: Mapping[str, Frames]
    """Frames by their file, none empty."""
    log_files: Mapping[str, bytes]
    won: bool = True
    """False when another writer's trial was there first."""

    @property
    def target(self) -> Path:
        """The trial's directory."""
        return self.directory / TRIALS / str(self.record["trial"]["hash"])


@dataclass(frozen=True)
class Step:
    """One step of a commit: its name, as `disk.steps.reached` is told it, and what it does."""

    name: str
    does: Callable[[Stage], None]


def _write_films(stage: Stage) -> None:
    for file, frames in stage.films.items():
        # Before the trial that names it: a picture without a trial harms nobody.
        last = keep_picture(stage.directory / PICTURES, frames.last())
        write_synced(stage.folder / file, frames.to_bytes(last))


def _write_logs(stage: Stage) -> None:
    for log, content in stage.log_files.items():
        (stage.folder / log).parent.mkdir(exist_ok=True)
        write_synced(stage.folder / log, content)


def _write_record(stage: Stage) -> None:
    # No time in the header: the same record gives the same bytes.
    content = gzip.compress(json_bytes(stage.record), RECORD_EFFORT, mtime=0)
    write_synced(stage.folder / RECORD_FILE, content)


def _sync(stage: Stage) -> None:
    for folder in {(stage.folder / log).parent for log in stage.log_files} | {stage.folder}:
        sync_directory(folder)
    stage.folder.chmod(0o777 & ~umask())  # private until now


def _rename(stage: Stage) -> None:
    try:
        stage.folder.rename(stage.target)  # refuses a directory that is there and not empty
    except OSError:
        if not stage.target.exists():
            raise
        stage.won = False


def _sync_name(stage: Stage) -> None:
    sync_directory(stage.target.parent)


STEPS = (
    Step("trial frames", _write_films),
    Step("trial logs", _write_logs),
    Step("trial record", _write_record),
    Step("trial sync", _sync),
    Step("trial rename", _rename),
    Step("trial sync name", _sync_name),
)
"""What a commit does, in its order. It goes through this list, and so do tests of faults."""

BEGUN, DONE = "trial begun", "trial done"


def write_trial(
    directory: Path,
    record: JsonMapping,
    frames: Frames | None = None,
    step_frames: Sequence[Frames] = (),
    logs: Mapping[str, bytes] = MappingProxyType({}),
) -> bool:
    """Commit one trial under `directory`; False when another writer had committed it before.

    The record is checked first, so that what could not be read is never written. Raises StoreError
    for a record that breaks the schema and when the disk refuses.
    """
    name = record["trial"]["hash"]
    check_record(record, f"trial {name}")
    films = {FRAMES_FILE: frames}
    films |= {step_frames_file(number): each for number, each in enumerate(step_frames, start=1)}
    taken = {file: each for file, each in films.items() if each}
    trials = directory / TRIALS
    with refusals(trials / name):
        reached(BEGUN)
        trials.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(trials / name):
            return False
        with locked_folder(trials, DRAFT_PREFIX) as folder:
            stage = Stage(directory, folder, record, taken, logs)
            for step in STEPS:
                reached(step.name)
                step.does(stage)
        reached(DONE)
        return stage.won
