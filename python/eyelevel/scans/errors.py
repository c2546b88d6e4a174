"""What can go wrong with a scan."""

from eyelevel.errors import ExpectedError


class ScanError(ExpectedError):
    """A list cannot be read, or an option does not fit; one line with the way out."""
