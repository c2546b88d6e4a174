"""Bring recordings of other tools into a corpus, one at a time; what is refused says why."""

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from eyelevel.binary import run_tool
from eyelevel.corpora.ledger import Entry, Ledger, Outcome
from eyelevel.corpora.sources import Source, name_of
from eyelevel.disk.whole import folder_beside
from eyelevel.errors import LabError

TIME_LIMIT_S = 120.0
"""For one recording; the largest that a browser has made so far takes 3 s."""
_REASON_MAX = 300


@dataclass(frozen=True)
class Wishes:
    """How recordings are brought in, all alike."""

    secure: bool = False
    """Make https origins of http ones (`site import --secure`)."""
    viewport: str = ""
    """`WIDTHxHEIGHT`, what the pages were recorded in; empty: as each file says."""
    time_limit_s: float = TIME_LIMIT_S
    again: bool = False
    """Whether what was refused before is tried again."""

    @property
    def changes_files(self) -> bool:
        """Whether a recording that would replay as it is has to be written anew."""
        return self.secure or bool(self.viewport)


def import_all(
    sources: Iterable[Source],
    ledger: Ledger,
    folder: Path,
    wishes: Wishes,
    tell: Callable[[Entry, bool], None],
) -> None:
    """Bring each source into `folder`; `tell` hears of each when its line is in the table, and
    whether it was passed over.

    What is there already, of the same size, is passed over. Raises OSError where the folder cannot
    be written.
    """
    for source in sources:
        before = ledger.entries.get(source.key)
        if before and not _is_wanted(before, source, folder, wishes):
            tell(before, True)
            continue
        taken = ledger.names() - ({before.name} if before else set())
        name = before.name if before else name_of(source, taken)
        entry = _import(source, name, folder, wishes)
        ledger.put(entry)
        tell(entry, False)


def recording_in(folder: Path, entry: Entry) -> Path | None:
    """The file of an entry, if it is there."""
    files = (folder / f"{entry.name}{ending}" for ending in (".wacz", ".warc", ".warc.gz"))
    return next((file for file in files if file.is_file()), None)


def _is_wanted(before: Entry, source: Source, folder: Path, wishes: Wishes) -> bool:
    if before.source_bytes != source.bytes:
        return True
    if before.is_there:
        return recording_in(folder, before) is None
    return wishes.again


def _import(source: Source, name: str, folder: Path, wishes: Wishes) -> Entry:
    as_it_is = source.replays_as_it_is and not wishes.changes_files
    out = folder / f"{name}{source.ending if as_it_is else '.wacz'}"
    outcome: Outcome = "imported"
    reason = ""
    with folder_beside(out) as draft:
        made = draft / out.name
        try:
            if as_it_is:
                shutil.copyfile(source.path, made)
                # Every digest: a byte that was lost is told here, not in a study.
                run_tool(["archive", "verify", str(made), "--json"], within_s=wishes.time_limit_s)
            else:
                run_tool(_command(source, made, wishes), within_s=wishes.time_limit_s)
            made.chmod(0o644)
            made.rename(out)
        except LabError as error:
            # One line, and of the file that its user knows.
            said = " ".join(str(error).replace(str(made), str(source.path)).split())
            said = said.removeprefix(f"cannot import {source.path}: ")
            outcome, reason = "refused", said[:_REASON_MAX]
    return Entry(name, source.key, outcome, reason, source.bytes)


def _command(source: Source, out: Path, wishes: Wishes) -> list[str]:
    command = ["archive", "import", str(source.path), "--out", str(out)]
    command += ["--secure"] if wishes.secure else []
    return command + (["--viewport", wishes.viewport] if wishes.viewport else [])
