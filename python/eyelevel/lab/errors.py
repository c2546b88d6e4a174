"""What can go wrong with a lab."""


class LabError(Exception):
    """A lab could not be built, or it failed while it was up; one line with the way out."""
