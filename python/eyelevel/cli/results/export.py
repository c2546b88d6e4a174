"""`eyelevel export`: loads as HAR, video and pictures."""

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.opening import end_at
from eyelevel.cli.output import hints, results
from eyelevel.disk.results import make_folder, write_result, writing
from eyelevel.errors import ExportError
from eyelevel.export.har import har_of
from eyelevel.export.pictures import write_filmstrip, write_video
from eyelevel.store.directory import StoredTrial, committed, has_record, read_trial

EXPORTS = "exports"


@dataclass(frozen=True)
class Exports:
    """Which formats are asked for."""

    har: bool
    video: bool
    filmstrip: bool


def export(
    what: Annotated[
        Path, typer.Argument(help="The directory of a run, or of one trial (DIR/trials/HASH).")
    ],
    har: Annotated[bool, typer.Option("--har", help="Write HASH.har (HTTP Archive 1.2).")] = False,
    video: Annotated[
        bool, typer.Option("--video", help="Write HASH.mp4 with the time drawn in.")
    ] = False,
    filmstrip: Annotated[
        bool, typer.Option("--filmstrip", help="Write each picture, and a strip of them, to HASH/.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write; by default exports/ in the run's directory."),
    ] = None,
) -> None:
    """Write loads in the formats of other tools; without an option, in all of them.

    Everything is made from the raw records, so this works years later.
    """
    exports = Exports(har, video, filmstrip)
    if not any(astuple(exports)):
        exports = Exports(har=True, video=True, filmstrip=True)
    for line in export_all(what, out, exports):
        results.print(line, markup=False, soft_wrap=True)
    end_at("exports", target_of(what, out))


def export_all(what: Path, out: Path | None, asked: Exports) -> list[str]:
    """Write what is asked for of every load of `what`; what there is to say of it, in lines."""
    directory, names = _trials(what)
    target = target_of(what, out)
    without_frames = 0
    for number, trial in enumerate(_read(directory, names), start=1):
        hints.print(f"load {number} of {len(names)}: {trial.path.name}", markup=False)
        without_frames += not write_exports(trial, target, asked)
    sentences = [f"{len(names)} loads in {target}"]
    if without_frames and (asked.video or asked.filmstrip):
        sentences.append(
            f"{without_frames} of them had no frames, so there are no pictures of these"
        )
    return sentences


def target_of(what: Path, out: Path | None) -> Path:
    """Where exports of a run or of one of its trials go, unless somewhere is named."""
    return out or _trials(what)[0] / EXPORTS


def write_exports(trial: StoredTrial, target: Path, asked: Exports) -> bool:
    """Write what is asked for of one load; False if it has no frames."""
    make_folder(target)
    name, key = trial.path.name, trial.record["trial"]
    if asked.har:
        text = json.dumps(har_of(trial.record), ensure_ascii=False, indent=1)
        write_result(target / f"{name}.har", text + "\n")
    frames = trial.frames()
    if not frames.at_ms:
        return False
    with writing(target):
        if asked.video:
            label = f"{key['site']}  {key['network']}  {key['stack']}"
            write_video(frames, label, target / f"{name}.mp4")
        if asked.filmstrip:
            write_filmstrip(frames, key["stack"], target / name)
    return True


def _trials(what: Path) -> tuple[Path, list[str]]:
    if has_record(what):
        return what.resolve().parent.parent, [what.resolve().name]
    names = sorted(committed(what))
    if not names:
        raise ExportError(
            f"reading {what}: there are no trials in it; give the directory that `eyelevel run "
            "--out` wrote, or one of its trials/HASH"
        )
    return what, names


def _read(directory: Path, names: list[str]) -> Iterator[StoredTrial]:
    for name in names:
        yield read_trial(directory, name)
