"""Remember which blocks a bucket already has, so that none is read back for comparison.

A hidden file in the run's directory, one per bucket, has one line per block. A line is written once
the bucket has the block; a line lost by a killed writer costs reading that block back once.
"""

import hashlib
import re
from pathlib import Path

from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.limits import NAMES, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.store.directory import refusals

_PREFIX = ".copied-"
_LINE = re.compile(r"\d{7}")
_NAME_HEX = 16


class Known:
    """The list of blocks that one bucket has."""

    def __init__(self, directory: Path, url: str) -> None:
        digest = hashlib.sha256(url.encode()).hexdigest()
        self._file = directory / f"{_PREFIX}{digest[:_NAME_HEX]}"

    def read(self) -> set[int]:
        """Return the numbers of the blocks. Raises `OutsideError`."""
        if not self._file.exists():
            return set()
        source = Source(str(self._file), NAMES)
        lines = lines_of(self._file, source, WORD_LINE_BYTES_MAX)
        return {int(line) for _, line in lines if _LINE.fullmatch(line)}

    def add(self, number: int) -> None:
        """Append a block to the list. Raises `StoreError` if the disk refuses."""
        with refusals(self._file), self._file.open("a", encoding="ascii") as stream:
            stream.write(f"\n{number:07}")  # a line that was cut off stays separate
