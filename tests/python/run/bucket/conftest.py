import shutil

import pytest
from copied_runs import MACHINE, Run, write_machine
from synthetic_run import write_run


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    directory = tmp_path_factory.mktemp("written") / "run"
    write_run(directory)
    write_machine(directory, MACHINE, 1)
    return directory


@pytest.fixture
def run(tmp_path, written):
    """Of the test's own."""
    return Run(shutil.copytree(written, tmp_path / "run"))
