import shutil

import pytest
from copied_runs import Run
from made_up_run import write_run


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    directory = tmp_path_factory.mktemp("written") / "run"
    write_run(directory)
    machines = directory / "machines"
    machines.mkdir()
    (machines / "0123456789.json").write_text('{"version":1}\n')
    return directory


@pytest.fixture
def run(tmp_path, written):
    """Of the test's own."""
    return Run(shutil.copytree(written, tmp_path / "run"))
