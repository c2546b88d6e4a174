"""Export loads as HAR, video and frames (`eyelevel export`)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import typer

from eyelevel.analysis.export.har import har_of
from eyelevel.analysis.export.pictures import write_filmstrip, write_video
from eyelevel.base.errors import ExportError
from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, results
from eyelevel.sites.contents import bodies_of
from eyelevel.sites.recorded import open_site, site_info
from eyelevel.store.directory import StoredTrial, has_record, list_committed, read_trial
from eyelevel.store.disk import make_folder, write_result, writing
from eyelevel.store.packed import MESSAGES_FILE, read_messages

EXPORTS = "exports"


@dataclass(frozen=True)
class Exports:
    """Formats to export."""

    har: bool
    video: bool
    filmstrip: bool


Bodies = Mapping[str, Sequence[JsonMapping]]
"""HAR contents of recorded exchanges, by the recording's digest."""


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
    bodies: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SITE",
            help="With --har: add the bodies of this recording, which was replayed. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write; by default exports/ in the run's directory."),
    ] = None,
) -> None:
    """Write loads in the formats of other tools; without an option, in all of them.

    Everything is made from the raw records, so this works years later. Header fields, cookies and
    sizes are in a HAR; bodies are in the recording.
    """
    exports = Exports(har, video, filmstrip)
    if not any(astuple(exports)):
        exports = Exports(har=True, video=True, filmstrip=True)
    sites = [open_site(name) for name in bodies or ()]
    contents = {str(site_info(site.path)["digest"]): bodies_of(site.path) for site in sites}
    for line in export_all(what, out, exports, contents):
        results.print(line, markup=False, soft_wrap=True)
    end_at("exports", target_of(what, out))


def export_all(
    what: Path, out: Path | None, exports: Exports, bodies: Bodies = MappingProxyType({})
) -> list[str]:
    """Write the requested exports of every load of `what`; returns sentences on what was written.

    Raises `ExportError` for a load whose recording is not among `bodies`, if there are any.
    """
    directory, names = _trials(what)
    target = target_of(what, out)
    without_frames = without_fields = 0
    for number, trial in enumerate(_read(directory, names), start=1):
        hints.print(f"load {number} of {len(names)}: {trial.path.name}", markup=False)
        without_frames += not write_exports(trial, target, exports, bodies)
        without_fields += exports.har and not (trial.path / MESSAGES_FILE).exists()
    sentences = [f"{len(names)} loads in {target}"]
    if without_fields:
        sentences.append(
            f"{without_fields} of them are older than the file of header fields, so their HAR has "
            "timings alone"
        )
    if without_frames and (exports.video or exports.filmstrip):
        sentences.append(
            f"{without_frames} of them had no frames, so there are no pictures of these"
        )
    return sentences


def target_of(what: Path, out: Path | None) -> Path:
    """Return the default folder for exports of a run or of one of its trials."""
    return out or _trials(what)[0] / EXPORTS


def write_exports(
    trial: StoredTrial, target: Path, exports: Exports, bodies: Bodies = MappingProxyType({})
) -> bool:
    """Write the requested exports of one load; returns False if it has no frames."""
    make_folder(target)
    name, key = trial.path.name, trial.record["trial"]
    if exports.har:
        messages = read_messages(trial.path, len(trial.record["objects"]))
        contents = _contents(key, bodies)
        text = json.dumps(har_of(trial.record, messages, contents), ensure_ascii=False, indent=1)
        write_result(target / f"{name}.har", text + "\n")
    frames = trial.frames()
    if not frames.at_ms:
        return False
    with writing(target):
        if exports.video:
            label = f"{key['site']}  {key['network']}  {key['stack']}"
            write_video(frames, label, target / f"{name}.mp4")
        if exports.filmstrip:
            write_filmstrip(frames, key["stack"], target / name)
    return True


def _contents(key: JsonMapping, bodies: Bodies) -> Sequence[JsonMapping]:
    """Return the contents of a trial's own recording.

    Raises `ExportError` if only others are given.
    """
    if bodies and key["site_digest"] not in bodies:
        raise ExportError(
            f"adding bodies to the load {key['hash']}: it replayed {key['site']} with the digest "
            f"{key['site_digest']}; give that recording with --bodies, too"
        )
    return bodies.get(key["site_digest"], ())


def _trials(what: Path) -> tuple[Path, list[str]]:
    if has_record(what):
        return what.resolve().parent.parent, [what.resolve().name]
    names = sorted(list_committed(what))
    if not names:
        raise ExportError(
            f"reading {what}: there are no trials in it; give the directory that `eyelevel run "
            "--out` wrote, or one of its trials/HASH"
        )
    return what, names


def _read(directory: Path, names: list[str]) -> Iterator[StoredTrial]:
    for name in names:
        yield read_trial(directory, name)
