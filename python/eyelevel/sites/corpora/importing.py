"""Import other tools' recordings into a corpus, one at a time; refusals have a reason."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from eyelevel.base.errors import LabError
from eyelevel.lab.binary import run_tool
from eyelevel.sites.corpora.ledger import Entry, Ledger
from eyelevel.sites.corpora.sources import RECORDED, Source, name_of
from eyelevel.store.disk import folder_beside

TIME_LIMIT_S = 120.0
"""Time limit for importing one recording; the largest one made by a browser so far takes 3 s."""
_REASON_MAX = 300


@dataclass(frozen=True)
class Wishes:
    """Options of an import, the same for all recordings."""

    secure: bool = False
    """Whether to convert http origins to https ones (`site import --secure`)."""
    viewport: str = ""
    """`WIDTHxHEIGHT` in which the pages were recorded; "" for each file's own."""
    time_limit_s: float = TIME_LIMIT_S
    again: bool = False
    """Whether to retry recordings that were refused before."""

    @property
    def changes_files(self) -> bool:
        """Whether even a recording that needs no conversion has to be rewritten."""
        return self.secure or bool(self.viewport)

    @property
    def in_words(self) -> str:
        """Return the options as the corpus's table has them."""
        words = ["secure"] * self.secure + [f"viewport={self.viewport}"] * bool(self.viewport)
        return " ".join(words)


def import_all(
    sources: Iterable[Source],
    ledger: Ledger,
    folder: Path,
    wishes: Wishes,
    tell: Callable[[Entry, bool], None],
) -> None:
    """Import each source into `folder`.

    `tell` is called with each entry and whether it was skipped.

    A recording that exists with the same source, size and options is skipped. If a repeated import
    fails, the earlier recording and its entry stay. Raises `OSError` if the folder cannot be
    written.
    """
    for source in sources:
        before = ledger.entries.get(source.origin)
        if before and not _is_wanted(before, source, folder, wishes):
            tell(before, True)
            continue
        name = ledger.name_for(before, partial(name_of, source))
        tell(_import(source, name, ledger, folder, wishes), False)


def recording_in(folder: Path, entry: Entry) -> Path | None:
    """Return the file of an entry, or None."""
    return next((file for file in _files_of(folder, entry) if file.is_file()), None)


def _files_of(folder: Path, entry: Entry) -> list[Path]:
    """Return the possible paths of the entry's recording."""
    return [folder / f"{entry.name}{ending}" for ending in RECORDED]


def _is_wanted(before: Entry, source: Source, folder: Path, wishes: Wishes) -> bool:
    if (before.source_bytes, before.wishes) != (source.bytes, wishes.in_words):
        return True
    if before.is_there:
        return recording_in(folder, before) is None
    return wishes.again


def _import(source: Source, name: str, ledger: Ledger, folder: Path, wishes: Wishes) -> Entry:
    as_it_is = source.replays_as_it_is and not wishes.changes_files
    out = folder / f"{name}{source.ending if as_it_is else '.wacz'}"
    entry = Entry(name, source.origin, "imported", "", source.bytes, wishes.in_words)
    before = recording_in(folder, entry)
    with folder_beside(out) as draft:
        made = draft / out.name
        try:
            if as_it_is:
                shutil.copyfile(source.path, made)
                # Verify every digest, so that damage is found here and not in a study.
                run_tool(["archive", "verify", str(made), "--json"], within_s=wishes.time_limit_s)
            else:
                run_tool(_command(source, made, wishes), within_s=wishes.time_limit_s)
        except LabError as error:
            # One line, about the file that the user knows.
            reason = " ".join(str(error).replace(str(made), str(source.path)).split())
            reason = reason.removeprefix(f"cannot import {source.path}: ")
            entry = replace(entry, outcome="refused", reason=reason[:_REASON_MAX])
            if before is None:
                ledger.put(entry)
            return entry
        made.chmod(0o644)
        if not before:
            # The entry first: a file without one would be taken for the user's own after a crash.
            ledger.put(entry)
        made.rename(out)
    for other in _files_of(folder, entry):
        if other != out:
            other.unlink(missing_ok=True)
    if before:
        ledger.put(entry)
    return entry


def _command(source: Source, out: Path, wishes: Wishes) -> list[str]:
    command = ["archive", "import", str(source.path), "--out", str(out)]
    command += ["--secure"] if wishes.secure else []
    return command + (["--viewport", wishes.viewport] if wishes.viewport else [])
