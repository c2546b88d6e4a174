"""The base of every expected failure: the command knows it without knowing who raises it."""


class ExpectedError(Exception):
    """Something that a user can cause or mend; its message gives attempt, subject and way out."""
