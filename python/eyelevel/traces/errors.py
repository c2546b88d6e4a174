"""What can be wrong with a trace."""

from eyelevel.errors import ExpectedError


class TraceError(ExpectedError):
    """A trace is refused; the message names file, line and remedy."""
