"""Keep a list of the blocks that a bucket has from this directory, so that none is read back.

One line a block in a hidden file of the run's directory, a file a bucket. A line is written once
the bucket has the block; what a killed writer did not write costs one reading back.
"""

import hashlib
import re
from pathlib import Path

from eyelevel.from_outside.files import lines_of
from eyelevel.from_outside.limits import NAMES, WORD_LINE_BYTES_MAX
from eyelevel.from_outside.source import Source
from eyelevel.store.directory import refusals

_PREFIX = ".copied-"
_LINE = re.compile(r"\d{7}")
_NAME_HEX = 16


class Known:
    """The known blocks of one bucket."""

    def __init__(self, directory: Path, url: str) -> None:
        digest = hashlib.sha256(url.encode()).hexdigest()
        self._file = directory / f"{_PREFIX}{digest[:_NAME_HEX]}"

    def read(self) -> set[int]:
        """Return the numbers of the blocks. Raises OutsideError."""
        if not self._file.exists():
            return set()
        source = Source(str(self._file), NAMES)
        lines = lines_of(self._file, source, WORD_LINE_BYTES_MAX)
        return {int(line) for _, line in lines if _LINE.fullmatch(line)}

    def add(self, number: int) -> None:
        """Add a block to the list. Raises StoreError if the disk refuses."""
        with refusals(self._file), self._file.open("a", encoding="ascii") as stream:
            stream.write(f"\n{number:07}")  # what was cut off before stays a line of its own
