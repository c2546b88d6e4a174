"""Files of JSON lines that grow over several runs of a command."""

import os
from pathlib import Path

from eyelevel.base.errors import ExpectedError

TAIL_BYTES_MAX = 1 << 17
"""More than any row, and than an answer: of its 12 kB each byte is at most six in JSON."""


def mend(path: Path) -> None:
    """Cut a last line that a killed writer left half written; a file that is absent stays so.

    Raises ExpectedError if the file is none of ours, and leaves it alone.
    """
    if not path.exists():
        return
    with path.open("rb+") as stream:
        if stream.read(1) not in (b"", b"{"):
            raise ExpectedError(
                f"{path} holds something other than JSON lines: choose another file"
            )
        size = stream.seek(0, os.SEEK_END)
        reach = min(size, TAIL_BYTES_MAX)
        stream.seek(size - reach)
        tail = stream.read(reach)
        if tail and not tail.endswith(b"\n"):
            stream.truncate(size - reach + tail.rfind(b"\n") + 1)
