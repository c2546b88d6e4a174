"""What can go wrong with a lab."""

from eyelevel.errors import ExpectedError


class LabError(ExpectedError):
    """A lab could not be built, or it failed while it was up; one line with the way out."""
