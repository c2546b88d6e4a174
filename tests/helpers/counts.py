"""Decide how many samples a test draws: few in `make test`, all in `make test-all`."""

import os


def count(*, full: int, sample: int) -> int:
    """Return `full` where `scripts/test --all` runs, else `sample`."""
    return full if os.environ.get("EYELEVEL_TESTS") == "full" else sample
