"""What can go wrong with files of probes."""

from eyelevel.errors import ExpectedError


class ProbeError(ExpectedError):
    """A file of probes cannot be read, or an option does not fit; one line with the way out."""
