"""What tests of the packages share."""

import signal
from collections.abc import Iterator

import pytest
from synthetic_run import read_run

from eyelevel.cli.main import TERMINATING


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    """A command that a test calls here takes signals for itself: those of the tests' run stay its
    own, so that it can be ended from outside, and no test fails of that."""
    numbers = (signal.SIGINT, *TERMINATING)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def quickstart_contents(tmp_path_factory):
    """What a report says of a made-up run of the quickstart plan; nobody changes it."""
    return read_run(tmp_path_factory.mktemp("quickstart"))
