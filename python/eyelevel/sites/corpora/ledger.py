"""The table next to a corpus's recordings: the source of each, and why some are absent."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from eyelevel.base.errors import CorpusError
from eyelevel.base.from_outside.csv_rows import csv_rows
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.limits import LEDGER
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import escape_control_characters, excerpt
from eyelevel.sites.corpora.sources import RECORDED, plain_name
from eyelevel.store.cells import guard_cell, unguard_cell
from eyelevel.store.claim import claim
from eyelevel.store.disk import write_whole

FILE = "corpus.csv"
"""File name of the table in the corpus's folder."""

Outcome = Literal["recorded", "imported", "refused", "failed"]
"""Recordings exist for `recorded` and `imported`; `refused` is a file that is not a readable
recording, `failed` a page that could not be recorded.
"""
THERE: tuple[Outcome, ...] = ("recorded", "imported")
_COLUMNS = ("name", "source", "outcome", "reason", "source_bytes", "wishes")


@dataclass(frozen=True)
class Entry:
    """One line: a page or a file of another tool, and its outcome."""

    name: str
    """The recording's file name without suffix."""
    source: str
    """URL of the page, or full path of the imported file."""
    outcome: Outcome
    reason: str = ""
    """Why there is no recording."""
    source_bytes: int = 0
    """Size of the imported file; a file of another size is another recording."""
    wishes: str = ""
    """Import options, such as `secure viewport=1366x768`; other options give another recording."""

    @property
    def is_there(self) -> bool:
        """Whether the corpus has a recording of it."""
        return self.outcome in THERE


class Ledger:
    """The table in `folder`; `put` rewrites it atomically.

    Raises `CorpusError` if it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / FILE
        self.entries: dict[str, Entry] = {}
        """Entries by source, in order of addition."""
        if self._file.exists():
            self.entries = {entry.source: entry for entry in _read(self._file)}

    def put(self, entry: Entry) -> None:
        """Add an entry, or replace that of the same source. Raises `OSError`."""
        self.entries[entry.source] = entry
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for each in self.entries.values():
            reason = escape_control_characters(each.reason, keep="")
            texts = map(guard_cell, (each.name, each.source, each.outcome, reason))
            rows.writerow((*texts, each.source_bytes, guard_cell(each.wishes)))
        write_whole(self._file, text.getvalue().encode("utf-8"))

    def name_for(self, before: Entry | None, make: Callable[[set[str]], str]) -> str:
        """Return the name of a recording: that of its earlier entry, or a new one from `make`.

        `make` is called with the names to avoid: those of other entries, and of files without an
        entry.
        """
        taken = {entry.name for entry in self.entries.values() if entry is not before}
        taken |= {
            file.name.removesuffix(ending).lower()
            for ending in RECORDED
            for file in self._folder.glob(f"*{ending}")
        }
        if before and (before.is_there or before.name not in taken):
            return before.name
        return make(taken)


def own_ledger(folder: Path) -> Ledger:
    """Claim a folder for this process and return its table, which is created if missing.

    Raises `StoreError` if another process writes it, and `CorpusError` if it cannot be read.
    """
    claim(folder)
    return Ledger(folder)


def _read(file: Path) -> Iterator[Entry]:
    source = Source(str(file), LEDGER, CorpusError)
    rows = csv_rows(read_text(file, source), source)
    for number, cells in rows:
        if tuple(cells) == _COLUMNS:
            continue
        if len(cells) != len(_COLUMNS) or cells[2] not in get_args(Outcome):
            raise source.refusal("no line of a corpus's table", str(number))
        name, origin, outcome, reason, size, wishes = map(unguard_cell, cells)
        if not size.isdecimal():
            raise source.refusal(f"`{excerpt(size)}` is no size", str(number))
        if name != plain_name(name):  # it becomes the name of a file in this folder
            raise source.refusal(f"`{excerpt(name)}` is not the name of a recording", str(number))
        yield Entry(name, origin, outcome, reason, int(size[:18]), wishes)  # type: ignore[arg-type]
