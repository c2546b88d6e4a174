"""What tests of the packages share."""

import pytest
from made_up_run import read_run


@pytest.fixture(scope="session")
def quickstart_contents(tmp_path_factory):
    """What a report says of a made-up run of the quickstart plan; nobody changes it."""
    return read_run(tmp_path_factory.mktemp("quickstart"))
