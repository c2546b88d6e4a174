"""Commit a block's trials, all or none, in named steps.

They are staged under a temporary name, synced, marked complete by one rename, and then renamed to
their own names one by one. A kill, a full disk or a lost permission at any step leaves either none
of them or a complete stage, which `recover` finishes: a block is never committed in part. The first
writer of a trial wins, on one machine or on many that share the directory.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from eyelevel.base.json_types import JsonMapping
from eyelevel.store.directory import TRIALS, refusals, remove_leftovers
from eyelevel.store.disk import DRAFT_PREFIX, lock_folder, report_step, sync_directory, write_synced
from eyelevel.store.frames import Frames
from eyelevel.store.packed import PackedTrial, pack
from eyelevel.store.pictures import PICTURES, has_picture, keep_picture

WHOLE_PREFIX = ".whole-"
"""Prefix of a stage whose trials are complete on disk but do not have their final names yet."""


@dataclass
class Stage:
    """Trials of one block being committed."""

    directory: Path
    """Directory of the run."""
    folder: Path
    """Folder being written, with a name that no trial has."""
    trials: Sequence[PackedTrial]
    pictures: Mapping[str, bytes]
    """Images of last frames, by name."""
    won: list[str] = field(default_factory=list)
    """Names of the trials that no other writer had committed before."""

    @property
    def whole(self) -> Path:
        """Folder of the complete stage, after its rename."""
        return self.folder.with_name(WHOLE_PREFIX + self.folder.name.removeprefix(DRAFT_PREFIX))


@dataclass(frozen=True)
class Step:
    """One step of a commit: its name, as reported to `disk.steps`, and its function."""

    name: str
    does: Callable[[Stage], None]


def _keep_pictures(stage: Stage) -> None:
    # Before the trials that refer to them: an unreferenced image is harmless.
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
    """Remove a complete stage.

    On a disk without locks another process may do so at the same time.
    """
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
"""Steps of a commit in order; fault tests iterate over the same list."""

BEGUN, RENAMED, DONE = "block begun", "trial renamed", "block done"


def write_block(directory: Path, trials: Sequence[PackedTrial]) -> list[str]:
    """Commit trials under `directory`, all or none; returns the names of those not there before.

    Raises `StoreError` if the disk refuses. A stage that is complete by then is finished by
    `recover`.
    """
    folder = directory / TRIALS
    with refusals(folder / trials[0].name if trials else folder):
        report_step(BEGUN)
        folder.mkdir(parents=True, exist_ok=True)
        absent = [trial for trial in trials if not os.path.lexists(folder / trial.name)]
        # Include those that another writer committed: a slot sends an image once, and its next
        # trials refer to it.
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
    """Commit one trial under `directory`; returns False if another writer had committed it before.

    The record is validated first, so that an unreadable record is never written. Raises
    `StoreError` for a record that violates the schema, and if the disk refuses.
    """
    if os.path.lexists(directory / TRIALS / record["trial"]["hash"]):
        return False

    def is_known(name: str) -> bool:
        return has_picture(directory / PICTURES, name)

    return bool(write_block(directory, [pack(record, frames, step_frames, logs, is_known)]))


def recover(directory: Path) -> None:
    """Finish the commits of killed writers: complete stages are committed, others removed.

    The caller must have claimed the directory (`eyelevel.store.claim`). Raises `StoreError` if the
    disk refuses.
    """
    with refusals(directory / TRIALS):
        for whole in sorted((directory / TRIALS).glob(f"{WHOLE_PREFIX}*")):
            _rename_all(whole)
            sync_directory(whole.parent)
            _remove_whole(whole)
    remove_leftovers(directory)


def _rename_all(whole: Path) -> list[str]:
    """Rename a complete stage's trials to their final names; returns those that had none before."""
    won: list[str] = []
    try:
        trials = sorted(whole.iterdir())
    except FileNotFoundError:  # another process's recovery moved all of them, as below
        return won
    for trial in trials:
        target = whole.parent / trial.name
        try:
            trial.rename(target)  # fails for an existing directory that is not empty
        except OSError:
            if not target.exists():
                raise
        else:
            won.append(trial.name)
        report_step(RENAMED)
    return won
