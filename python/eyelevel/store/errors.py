"""What can go wrong with stored records."""

from eyelevel.errors import ExpectedError


class StoreError(ExpectedError):
    """A stored file is missing, damaged or of another version; the message names it."""
