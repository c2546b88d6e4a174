"""Tell what kind of log some bytes are, and read them."""

from eyelevel.pathlog.direction import DirectionLog
from eyelevel.pathlog.errors import PathLogError
from eyelevel.pathlog.mahimahi import read_mahimahi
from eyelevel.pathlog.own import read_own


def read_log(content: bytes, name: str) -> DirectionLog:
    """One direction's log; `name` is the file's, for messages. Raises PathLogError."""
    if not content:
        raise PathLogError(f"{name}: the file is empty; the path that wrote it had no time to")
    if content.startswith(b"{"):
        return read_own(content, name)
    return read_mahimahi(content, name)
