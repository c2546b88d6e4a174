"""Files of JSON lines that several runs of a command append to."""

import os
from pathlib import Path

from eyelevel.base.errors import ExpectedError

TAIL_BYTES_MAX = 1 << 17
"""Maximum length of a last line: above any row, and above a response of 12 kB, whose bytes take
at most six in JSON.
"""


def mend(path: Path) -> None:
    """Remove an incomplete last line left by a killed writer; a missing file is ignored.

    Raises `ExpectedError` if the file is not eyelevel's, and leaves it unchanged.
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
