"""Derive recordings by edits: each once, kept by what it is made of."""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import PlanError, refusal_of
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import CHECKED
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.binary import binary_digest, run_tool
from eyelevel.plan.edits import Edit, parse_change
from eyelevel.sites.recorded import recording_name, site_info
from eyelevel.store.disk import folder_beside, sync_directory, temporary_folder, write_whole

__all__ = ["Derived", "Edit", "Matches", "derive", "parse_change", "write_edited"]

_REPORT = "edits.json"


@dataclass(frozen=True)
class Matches:
    """The matches of one edit."""

    edit: str
    """The edit's short form."""
    matches: int
    """The number of elements, texts, objects or fields that it matched; never 0."""
    objects: tuple[str, ...]
    """The URLs of the objects in which it matched."""


@dataclass(frozen=True)
class Derived:
    """A recording that edits made of another one."""

    path: Path
    digest: str
    matches: tuple[Matches, ...]
    """One entry per edit, in their order."""
    report: JsonMapping
    """The whole report of the edits (`spec/archive.md`)."""


def derive(recording: Path, edits: Sequence[Edit]) -> Derived:
    """Return the recording that edits make of another one, kept in the user's cache.

    Raises LabError where an edit matches nothing or cannot be done without damage, with the nearest
    name, and PlanError for a file of an edit that cannot be read.
    """
    kept = _cache() / _key(recording, edits)
    path = kept / f"{recording_name(recording)}.wacz"
    if not (kept / _REPORT).exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with folder_beside(kept) as folder:
            report = write_edited(recording, edits, folder / path.name)
            write_whole(folder / _REPORT, json.dumps(report).encode())
            _keep(folder, kept)
    source = Source(str(kept / _REPORT), CHECKED)
    return _read_derived(path, parse_object(read_bytes(kept / _REPORT, source), source))


def write_edited(recording: Path, edits: Sequence[Edit], out: Path) -> JsonMapping:
    """Write the edited recording to `out` and return the report; raises LabError."""
    with temporary_folder("edits") as folder:
        file = folder / "edits.json"
        file.write_text(json.dumps([edit.message() for edit in edits]), encoding="utf-8")
        report: JsonMapping = run_tool(
            ["archive", "edit", str(recording), "--edits", str(file), "--out", str(out)]
        )
    return report


def _read_derived(path: Path, report: JsonMapping) -> Derived:
    matches = tuple(
        Matches(each["edit"], each["matches"], tuple(each["objects"])) for each in report["edits"]
    )
    return Derived(path, report["digest"], matches, report)


def _keep(folder: Path, kept: Path) -> None:
    """Give a complete folder its name; another command's, of the same content, may have it."""
    try:
        folder.rename(kept)
    except OSError:
        if not (kept / _REPORT).exists():
            raise
    sync_directory(kept.parent)


def _key(recording: Path, edits: Sequence[Edit]) -> str:
    """Return the digest of all that determines the bytes of a derived recording."""
    made_of = [binary_digest(), site_info(recording)["digest"], recording.name]
    for edit in edits:
        made_of.append(json.dumps(edit.message(), sort_keys=True))
        if edit.kind == "body":
            made_of.append(_file_digest(Path(edit.value)))
    return hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:32]


def _file_digest(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise PlanError([f"reading {file} for an edit: {refusal_of(error)}"]) from error


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "eyelevel" / "edited"
