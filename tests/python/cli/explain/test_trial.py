from pathlib import Path

import pytest

from eyelevel.cli.explain.trial import only_trial
from eyelevel.errors import ConnectionLogError
from eyelevel.store.directory import RECORD_FILE


def test_a_folder_stands_for_its_only_trial(tmp_path: Path) -> None:
    with pytest.raises(ConnectionLogError, match=r"it is no trial; give DIR/trials/HASH"):
        only_trial(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "trials" / name).mkdir(parents=True)
    (tmp_path / "trials" / "two" / RECORD_FILE).touch()
    assert only_trial(tmp_path) == tmp_path / "trials" / "two"
    (tmp_path / "trials" / "one" / RECORD_FILE).touch()
    with pytest.raises(ConnectionLogError, match=r"it holds 2 trials; name one, such as .*one"):
        only_trial(tmp_path)
