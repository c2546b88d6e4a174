"""The commit of a block's trials: all or nothing, by steps that have names.

They are staged under a name of their own, synced, marked as whole by one renaming, and then get
their own names one by one. A kill, a full disk or a lost right at any step leaves none of them or a
whole stage, which `recover` ends: a block is never committed in part. The first writer of a
trial wins, on one machine or on many that share the directory.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from eyelevel.disk.folders import lock_folder
from eyelevel.disk.steps import report_step
from eyelevel.disk.whole import DRAFT_PREFIX, sync_directory, write_synced
from eyelevel.json_types import JsonMapping
from eyelevel.store.directory import TRIALS, refusals, remove_leftovers
from eyelevel.store.frames import Frames
from eyelevel.store.packed import PackedTrial, pack
from eyelevel.store.pictures import PICTURES, has_picture, keep_picture

WHOLE_PREFIX = ".whole-"
"""The prefix of a stage whose trials are complete on disk but do not have their names yet."""


@dataclass
class Stage:
    """Trials on their way from memory to their directories."""

    directory: Path
    """The run's."""
    folder: Path
    """The folder that is written to, under a name that no trial has."""
    trials: Sequence[PackedTrial]
    pictures: Mapping[str, bytes]
    """Last ones, by name."""
    won: list[str] = field(default_factory=list)
    """The names of those that no other writer had committed before."""

    @property
    def whole(self) -> Path:
        """The folder when all of it is on the disk."""
        return self.folder.with_name(WHOLE_PREFIX + self.folder.name.removeprefix(DRAFT_PREFIX))


@dataclass(frozen=True)
class Step:
    """One step of a commit: its name, as reported to `disk.steps`, and its function."""

    name: str
    does: Callable[[Stage], None]


def _keep_pictures(stage: Stage) -> None:
    # Before the trials that name them: a picture without a trial harms nobody.
    _keep_all(stage.directory / PICTURES, stage.pictures)


def _keep_all(folder: Path, pictures: Mapping[str, bytes]) -> None:
    for name, content in pictures.items():
        if not has_picture(folder, name):
            keep_picture(folder, name, content)


def _write_files(stage: Stage) -> None:
    for trial in stage.trials:
        folder = stage.folder / trial.name
        folder.mkdir()
        for name, content in trial.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_synced(folder / name, content)


def _sync(stage: Stage) -> None:
    for trial in stage.trials:
        for name in {str(Path(file).parent) for file in trial.files}:
            sync_directory(stage.folder / trial.name / name)
    sync_directory(stage.folder)


def _mark_whole(stage: Stage) -> None:
    stage.folder.rename(stage.whole)
    sync_directory(stage.whole.parent)


def _rename(stage: Stage) -> None:
    stage.won = _rename_all(stage.whole)


def _sync_names(stage: Stage) -> None:
    sync_directory(stage.whole.parent)


def _remove(stage: Stage) -> None:
    _remove_whole(stage.whole)


def _remove_whole(whole: Path) -> None:
    """Remove a complete stage; on a disk without locks another client may do so at the same
    time."""
    while whole.exists():
        with suppress(FileNotFoundError):
            shutil.rmtree(whole)


STEPS = (
    Step("pictures", _keep_pictures),
    Step("block files", _write_files),
    Step("block sync", _sync),
    Step("block whole", _mark_whole),
    Step("block rename", _rename),
    Step("block sync names", _sync_names),
    Step("block remove", _remove),
)
"""The steps of a commit in their order; tests of faults go through the same list."""

BEGUN, RENAMED, DONE = "block begun", "trial renamed", "block done"


def write_block(directory: Path, trials: Sequence[PackedTrial]) -> list[str]:
    """Commit trials under `directory`, all or none; the names of those that were not there.

    Raises StoreError when the disk refuses. What is staged whole then is committed by
    `recover`.
    """
    folder = directory / TRIALS
    with refusals(folder / trials[0].name if trials else folder):
        report_step(BEGUN)
        folder.mkdir(parents=True, exist_ok=True)
        absent = [trial for trial in trials if not os.path.lexists(folder / trial.name)]
        # Of those that another writer committed, too: a slot sends a picture once, and its next
        # trials name it.
        pictures = {name: each for trial in trials for name, each in trial.pictures.items()}
        if not absent:
            _keep_all(directory / PICTURES, pictures)
            return []
        with lock_folder(folder, DRAFT_PREFIX) as draft:
            stage = Stage(directory, draft, absent, pictures)
            for step in STEPS:
                report_step(step.name)
                step.does(stage)
        report_step(DONE)
        return stage.won


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
    if os.path.lexists(directory / TRIALS / record["trial"]["hash"]):
        return False

    def is_known(name: str) -> bool:
        return has_picture(directory / PICTURES, name)

    return bool(write_block(directory, [pack(record, frames, step_frames, logs, is_known)]))


def recover(directory: Path) -> None:
    """Finish what killed writers had begun: complete stages are committed, others removed.

    Only who has claimed the directory may ask for it (`eyelevel.store.claim`). Raises StoreError
    when the disk refuses.
    """
    with refusals(directory / TRIALS):
        for whole in sorted((directory / TRIALS).glob(f"{WHOLE_PREFIX}*")):
            _rename_all(whole)
            sync_directory(whole.parent)
            _remove_whole(whole)
    remove_leftovers(directory)


def _rename_all(whole: Path) -> list[str]:
    """Give a whole stage's trials their names; of those that had one the first writer's stays."""
    won: list[str] = []
    try:
        trials = sorted(whole.iterdir())
    except FileNotFoundError:  # another client's recovery had them all, as below
        return won
    for trial in trials:
        target = whole.parent / trial.name
        try:
            trial.rename(target)  # refuses a directory that is there and not empty
        except OSError:
            if not target.exists():
                raise
        else:
            won.append(trial.name)
        report_step(RENAMED)
    return won
