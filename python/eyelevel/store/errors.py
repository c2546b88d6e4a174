"""What can go wrong with stored records."""


class StoreError(Exception):
    """A stored file is missing, damaged or of another version; the message names it."""
