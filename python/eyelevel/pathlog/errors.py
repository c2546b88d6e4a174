"""What can be wrong with a path's log."""

from eyelevel.errors import ExpectedError


class PathLogError(ExpectedError):
    """A log is refused; the message names the file, the place and the remedy."""
