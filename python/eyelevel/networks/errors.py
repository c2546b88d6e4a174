"""What can be wrong with a network."""

from eyelevel.errors import ExpectedError


class NetworkError(ExpectedError):
    """A network is not known, or its description is refused; the message names the way out."""
