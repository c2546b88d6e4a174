import json
from pathlib import Path

import pytest
from repository import ROOT
from typer.testing import CliRunner

from eyelevel.cli.explain.commands import app
from eyelevel.cli.explain.trial import _PAINT, only_trial
from eyelevel.errors import ConnectionLogError
from eyelevel.store.directory import RECORD_FILE


def test_a_folder_stands_for_its_only_trial(tmp_path: Path) -> None:
    with pytest.raises(ConnectionLogError, match="it is not a trial; give DIR/trials/HASH"):
        only_trial(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "trials" / name).mkdir(parents=True)
    (tmp_path / "trials" / "two" / RECORD_FILE).touch()
    assert only_trial(tmp_path) == tmp_path / "trials" / "two"
    (tmp_path / "trials" / "one" / RECORD_FILE).touch()
    with pytest.raises(ConnectionLogError, match=r"it holds 2 trials; name one, such as .*one"):
        only_trial(tmp_path)


def test_the_parts_of_the_largest_paint_are_told_and_add_up(tmp_path: Path) -> None:
    (trial, *_) = sorted((ROOT / "vectors" / "golden" / "run" / "trials").iterdir())
    page = str(tmp_path / "page.html")
    done = CliRunner().invoke(app, ["trial", str(trial), "--out", page, "--json"])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["connections"]
    whole, *parts = (found[name] for name, _ in _PAINT)
    assert sum(parts) == pytest.approx(whole) and min(parts) > 0
    told = CliRunner().invoke(app, ["trial", str(trial), "--out", page]).stdout
    rows = {line[:30].strip(): line[30:].split() for line in told.splitlines()}
    assert rows["largest contentful paint, ms"][-1] == f"{whole:.0f}"
    assert rows["of it element render delay"][-1] == f"{parts[-1]:.0f}"
